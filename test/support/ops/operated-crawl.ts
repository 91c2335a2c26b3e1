// An endless crawl of three hosts with an operator at its socket, for tests of what operating does to a whole crawl.
import { ok, strictEqual } from 'node:assert';
import { join } from 'node:path';
import { DebugClient, type FinalLine } from '../../../src/ops/debug-client.ts';
import { inFolder } from '../command-line.ts';
import { bareFlags, type RunningCrawl, startCrawl, until } from '../crawl/run-crawl.ts';
import { type Answer, links, response, ScriptedWeb } from '../crawl/scripted-web.ts';

/** A host whose pages never end. */
const endless: Answer = (socket, request) => {
  const number = Number(/\d+/.exec(request.path)?.[0] ?? 0);
  // With its name in it: links of a page seen elsewhere are not followed twice.
  // And with words of its own: a host of pages that read alike would soon be looked at no more.
  const words = Array.from({ length: 80 }, (_, at) => ((number + 7) * (at + 11) ** 3) % 9_973);
  const body =
    request.host + words.join(' ') + links(`/page-${2 * number + 1}`, `/page-${2 * number + 2}`);
  const answer = response('200 OK', 'Content-Type: text/html\r\n', body);
  if (typeof answer === 'function') answer(socket, request);
};
/** Its hosts; the web gives each an address of its own. */
export const HOSTS = ['one.test', 'two.test', 'three.test'];

/** The crawl, its web and its operator. */
export interface Operated {
  readonly client: DebugClient;
  readonly web: ScriptedWeb;
  readonly crawl: RunningCrawl;
  /** Where the files lie; the data directory is `data` in it. */
  readonly folder: string;
  /** Asks, and fails the test when it is refused. */
  readonly ask: <Value>(...words: string[]) => Promise<Value>;
}

/**
 * Runs a body beside the crawl, which then has to end in order.
 * @param flags `{folder}` stands for the folder of `files`; the data directory is `data` in it
 */
export async function operated(
  flags: readonly string[],
  body: (on: Operated) => Promise<void>,
  files: Readonly<Record<string, string>> = {},
): Promise<void> {
  const answers = HOSTS.flatMap((host) => [
    [host, endless],
    [`${host}/robots.txt`, response('404 Not Found')],
  ]);
  const web = await ScriptedWeb.listen(() => Object.fromEntries(answers));
  try {
    await inFolder(files, async (folder) => {
      const seeds = HOSTS.map((host) => web.url(host));
      const data = join(folder, 'data');
      const own = flags.map((flag) => flag.replace('{folder}', folder));
      const crawl = startCrawl([...bareFlags(web.dnsPort, data), ...own, ...seeds]);
      try {
        ok(await until(crawl, () => web.requests.length > 12), crawl.stderr);
        const client = await DebugClient.connect(join(data, 'debug.sock'));
        const ask = async <Value>(...words: string[]): Promise<Value> => {
          const answer: FinalLine = await client.ask(words);
          if (!answer.ok) throw new Error(`${words.join(' ')}: ${answer.error}`);
          return answer.value as Value;
        };
        await body({ client, ask, web, crawl, folder });
        client.close();
        crawl.signal('SIGTERM');
        const { status, stderr } = await crawl.ended;
        strictEqual(status, 0, stderr);
      } finally {
        await crawl.kill();
      }
    });
  } finally {
    await web.close();
  }
}
