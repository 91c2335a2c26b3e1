// `npm run docs:session`: an operator's session with a loaded crawl, played for real, and written to docs/OPERATING.md. The web is the shipped
// one, with everything a web has: robots rules, delays, traps, hosts that are slow, broken or mute. Every command is run as an operator would
// run it, through `node cluster.js`; what it prints is quoted, long answers cut. So the page is true for as long as this script runs.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inFolder, runCommand } from '../test/support/command-line.ts';
import { type RunningCrawl, startCrawl } from '../test/support/crawl/run-crawl.ts';
import { type StartedWeb, startWeb } from '../test/support/server/start-web.ts';
import { VARIED_FEATURES } from '../test/support/world/world-options.ts';

/** Time that the crawl gets to be in full swing. */
const WARM_UP_MS = 20_000;
const LINES_MAX = 16;
const COLUMNS_MAX = 150;

/** One thing that an operator wants to know or to do. */
interface Step {
  /** Why one would ask. */
  readonly about: string;
  readonly words: readonly string[];
  /** Lines of the answer that are quoted. */
  readonly lines?: number;
}

interface Session {
  readonly web: StartedWeb;
  readonly dataDir: string;
  readonly parts: string[];
}

const web = await startWeb({
  ...{ seed: 11, hosts: 400, pagesPerHost: 400, pageBytes: 6_000, linksPerPage: 30 },
  features: { ...VARIED_FEATURES, muteHosts: 0.02, crawlDelays: 0.1 },
});
async function play(session: Session): Promise<void> {
  const { dataDir, parts } = session;
  const flags = [
    ...['--seeds', web.seedsFile, '--scope', 'all', '--contact', 'https://example.org/crawler'],
    ...['--dns', `127.0.0.1:${web.dnsPort}`, '--allow-net', '127.0.0.0/8', '--data', dataDir],
    ...['--min-gap', '250', '--ip-gap', '0', '--continuous', '--progress', 'none'],
  ];
  const crawl = startCrawl(flags);
  try {
    await sleep(WARM_UP_MS);
    await look(session);
    await steer(session);
    await stop(session, crawl);
  } finally {
    await crawl.kill();
  }
  await after(session);
  const target = fileURLToPath(new URL('../../docs/OPERATING.md', import.meta.url));
  writeFileSync(target, `${HEAD}\n${parts.join('\n')}`);
}

async function look(session: Session): Promise<void> {
  session.parts.push('## Looking\n');
  await ask(session, { about: 'How is it going?', words: ['inspect', 'overview'], lines: 40 });
  await ask(session, {
    about:
      'Could it go faster? What limits the rate: hosts at hand, slots, or something that holds it back?',
    words: ['inspect', 'front'],
  });
  const busiest = { about: 'Which actors work most?', words: ['inspect', 'top', 'busy', '5'] };
  await ask(session, busiest);
  const failing = await ask(session, {
    about: 'Which hosts make trouble?',
    words: ['inspect', 'hosts', 'failed', '5'],
  });
  const troubled = hostIn(failing);
  await ask(session, {
    about: 'What is the matter with the first of them, and when is it asked again?',
    words: ['inspect', 'host', troubled],
    lines: 40,
  });
  const ruled = web.world.hostName(3);
  const rules = {
    about: 'What does a site allow us?',
    words: ['inspect', 'robots', 'show', ruled],
  };
  await ask(session, rules);
  const url = [...web.world.seeds(4)][3] as string;
  await ask(session, {
    about: 'Why was a URL crawled, or why not? Every decision, in the order in which it was taken.',
    words: ['inspect', 'why', url],
    lines: 40,
  });
  await ask(session, {
    about: 'What does a host actor do, message by message?',
    words: ['inspect', 'trace', `host:${ruled}`, '--max', '6', '--for', '10'],
  });
  await ask(session, { about: 'Which turns were the longest?', words: ['inspect', 'slowlog'] });
  await ask(session, { about: 'Where is the memory?', words: ['inspect', 'heap'] });
  const profile = { about: 'Where does the time go?', words: ['inspect', 'cpu', '--for', '3'] };
  await ask(session, profile);
}

async function steer(session: Session): Promise<void> {
  session.parts.push(
    '## Steering\n\nEverything below is written to the audit log, with what came of it.\n',
  );
  const host = web.world.hostName(5);
  const address = web.world.addressOf(6);
  await ask(session, {
    about: 'A site owner asks for more distance: five seconds from now on.',
    words: ['inspect', 'delay', host, '5000'],
  });
  await ask(session, {
    about: 'A site owner is in trouble: nothing for an hour.',
    words: ['inspect', 'block', host, '--until', '3600'],
  });
  await ask(session, { about: 'It is over.', words: ['inspect', 'resume', 'host', host] });
  await ask(session, {
    about: 'And back to the rule that holds for all.',
    words: ['inspect', 'delay', host, 'auto'],
  });
  await ask(session, {
    about:
      'A provider calls about one of its machines: nothing to that address, whatever the host.',
    words: ['inspect', 'pause', 'ip', address],
  });
  await ask(session, {
    about: 'Until further notice.',
    words: ['inspect', 'resume', 'ip', address],
  });
  await ask(session, {
    about: 'A URL to begin with, beside the seeds.',
    words: ['inspect', 'inject', `http://${web.world.hostName(7)}/new-section`],
  });
  await ask(session, {
    about: 'The configuration file, the list of opt-outs or the table of networks has changed.',
    words: ['inspect', 'reload'],
  });
  await ask(session, { about: 'Hold everything …', words: ['inspect', 'pause', 'all'] });
  await ask(session, { about: '… and go on.', words: ['inspect', 'resume', 'all'] });
  await ask(session, {
    about: 'A mistake is told as one.',
    words: ['inspect', 'host', 'no-such-host.test'],
  });
}

async function stop({ dataDir, web, parts }: Session, crawl: RunningCrawl): Promise<void> {
  const before = crawl.stderr.length;
  crawl.signal('SIGTERM');
  const { status, stderr } = await crawl.ended;
  parts.push(
    '## Stopping\n\nSIGTERM, or Ctrl-C on its terminal: no new request, those under way are awaited, everything is committed.\n',
    quoted({ dataDir, web }, 'kill -TERM PID', stderr.slice(before), status),
  );
}

async function after(session: Session): Promise<void> {
  session.parts.push('## Afterwards\n\nFrom the data directory alone, with no crawl running.\n');
  await ask(session, { about: 'What was crawled?', words: ['report'], lines: 45 });
  await ask(session, { about: 'Was it polite? From the log of all requests.', words: ['audit'] });
}

/** Runs a command and writes it down. @returns what it printed */
async function ask(session: Session, { about, words, lines }: Step): Promise<string> {
  const { status, stdout, stderr } = await runCommand([...words, '--data', session.dataDir], {
    timeoutMs: 60_000,
  });
  const command = `node cluster.js ${words.join(' ')}`;
  session.parts.push(`${about}\n`, quoted(session, command, stdout + stderr, status, lines));
  return stdout;
}

function quoted(
  { dataDir, web }: Pick<Session, 'dataDir' | 'web'>,
  command: string,
  output: string,
  status: number | null,
  linesMax = LINES_MAX,
): string {
  const clean = (text: string): string =>
    text.replaceAll(dataDir, './crawl').replaceAll(web.seedsFile, 'seeds.txt');
  const lines = clean(output).trimEnd().split('\n');
  const shown = lines.slice(0, linesMax).map((line) => {
    const text = line.trimEnd();
    return text.length > COLUMNS_MAX ? `${text.slice(0, COLUMNS_MAX - 1)}…` : text;
  });
  if (lines.length > linesMax) shown.push(`… ${lines.length - linesMax} more lines`);
  if (status !== 0) shown.push(`(exit status ${status})`);
  return `\`\`\`\n$ ${clean(command)}\n${shown.join('\n')}\n\`\`\`\n`;
}

/** The first host that a table names. */
function hostIn(table: string): string {
  return /[a-z0-9-]+\.test/.exec(table)?.[0] ?? web.world.hostName(0);
}

const HEAD = `# An operator's session

A crawl of 400 hosts at full speed, looked at and steered through its debug socket ([DEBUG-SOCKET.md](DEBUG-SOCKET.md)). Written by
\`npm run docs:session\`, which plays it on the web that the project ships and quotes what the commands print. \`--data DIR\` is left out. For a view that
renews itself there are \`inspect top\`, \`inspect watch VERB\` and the dashboard (\`--http\`); \`inspect\` without a verb is a prompt with history and completion.
`;

try {
  await inFolder({}, (folder) => play({ web, dataDir: join(folder, 'crawl'), parts: [] }));
} finally {
  await web.stop();
}
