// `node cluster.js robots test|show`: questions to a robots.txt file, answered by the parser and matcher of step 5 (DESIGN.md §9). `test` asks
// about one URL, or with --batch about one a line (NDJSON); `show` prints the rules that bind a crawler. Of a running crawl's own rules
// `inspect robots show HOST` tells.

import { readFile } from 'node:fs/promises';
import { CrawlError } from '../base/errors.ts';
import { parseUrl } from '../base/parse-url.ts';
import { PRODUCT_TOKEN } from '../base/version.ts';
import { parseRobots } from '../domain/robots-parser.ts';
import { absoluteSitemaps, type RobotsRules, selectRules } from '../domain/robots-rules.ts';
import { testRobots } from '../domain/robots-test.ts';
import type { CommandInput } from './command.ts';
import { answerLines, bytesField, type InputObject, textField } from './ndjson.ts';

/** Files of 500 KiB and more are cut while parsing; this leaves room for their JSON escapes. */
const LINE_BYTES_MAX = 16 * 1_048_576;

/** Answers one question on standard output, or with --batch one for each line of standard input. */
export async function commandRobots({ words, options, config }: CommandInput): Promise<number> {
  const [verb, ...rest] = words;
  const [host] = rest;
  if (verb === 'show' && host !== undefined && rest.length === 1) {
    const { showStoredRobots } = await import('./robots-show.ts');
    return showStoredRobots(host, config);
  }
  if ((verb !== 'test' && verb !== 'show') || rest.length > 0) {
    throw usage(`robots: expected test or show, not ${words.join(' ') || 'nothing'}`);
  }
  if (options.batch === true) {
    if (verb !== 'test') throw usage('robots show: takes no --batch');
    const streams = { input: process.stdin, output: process.stdout };
    await answerLines(answerQuestion, { ...streams, lineBytesMax: LINE_BYTES_MAX });
    return 0;
  }
  const file = options.robots;
  if (typeof file !== 'string') throw usage(`robots ${verb}: needs --robots FILE (or --batch)`);
  const robotsTxt = await readRobots(file);
  const userAgent = String(options.userAgent ?? PRODUCT_TOKEN);
  const robotsUrl = options.robotsUrl === undefined ? undefined : String(options.robotsUrl);
  if (verb === 'show') {
    const rules = selectRules(
      parseRobots(robotsTxt, { bytesMax: config.robotsBytesMax }),
      userAgent,
    );
    process.stdout.write(config.json ? `${JSON.stringify(rules)}\n` : rulesText(rules, robotsUrl));
    return 0;
  }
  const url = options.url;
  if (typeof url !== 'string' || parseUrl(url) === undefined) {
    throw usage(`robots test: needs --url with an absolute URL`);
  }
  const answer = testRobots({
    robotsTxt,
    userAgent,
    url,
    ...(robotsUrl === undefined ? {} : { robotsUrl }),
  });
  process.stdout.write(config.json ? `${JSON.stringify(answer)}\n` : answerText(answer));
  return 0;
}

/** {robotsTxt | robotsTxtBase64, userAgent?, url?, robotsUrl?} → the answer of domain/robots-test.ts. */
function answerQuestion(input: InputObject): object {
  const robotsTxt = bytesField(input, 'robotsTxt');
  const userAgent = textField(input, 'userAgent') ?? PRODUCT_TOKEN;
  const url = textField(input, 'url');
  const robotsUrl = textField(input, 'robotsUrl');
  return testRobots({
    robotsTxt,
    userAgent,
    ...(url === undefined ? {} : { url }),
    ...(robotsUrl === undefined ? {} : { robotsUrl }),
  });
}

async function readRobots(file: string): Promise<Uint8Array> {
  try {
    if (file !== '-') return await readFile(file);
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  } catch (error) {
    throw new CrawlError('usage', `--robots ${file}: cannot be read: ${(error as Error).message}`, {
      remedy: 'Name a readable robots.txt, or - for standard input.',
      cause: error,
    });
  }
}

function answerText(answer: ReturnType<typeof testRobots>): string {
  const verdict = answer.governed
    ? answer.allowed === true
      ? 'allowed'
      : 'disallowed'
    : 'not governed by this file: it is of another origin';
  const by = answer.rule === undefined ? 'no rule matches' : `line ${answer.line}: ${answer.rule}`;
  const group = answer.group === '' ? 'none' : answer.group;
  return `${verdict} (${by}; group: ${group}; crawl delay: ${answer.crawlDelay ?? 'none'})\n`;
}

function rulesText(rules: RobotsRules, robotsUrl: string | undefined): string {
  const lines = rules.patterns.map((pattern, index) => {
    const word = rules.allows[index] === true ? 'Allow' : 'Disallow';
    return `${word}: ${pattern}  # line ${rules.lines[index]}`;
  });
  const delay = rules.crawlDelaySeconds;
  return [
    `User-agent: ${rules.group === '' ? '(no group binds this agent)' : rules.group}`,
    ...lines,
    ...(delay === undefined ? [] : [`Crawl-delay: ${delay}`]),
    ...absoluteSitemaps(rules.sitemaps, robotsUrl).map((url) => `Sitemap: ${url}`),
    '',
  ].join('\n');
}

function usage(text: string): CrawlError {
  return new CrawlError('usage', text, { remedy: 'See node cluster.js robots --help.' });
}
