// robots-http.json: what each HTTP outcome of /robots.txt means, played through the pure policy: answers in sequence,
// redirects followed as the host would follow them, and a clock that is a number.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { matchRobots } from '../../src/domain/robots-matcher.ts';
import { parseRobots } from '../../src/domain/robots-parser.ts';
import {
  decideRobots,
  ROBOTS_FRESH_MS_MAX,
  type RobotsDecision,
  type RobotsFetchOutcome,
  type RobotsUnreachableReason,
} from '../../src/domain/robots-policy.ts';
import { type RobotsRules, selectRules } from '../../src/domain/robots-rules.ts';
import {
  followRobotsRedirect,
  isRobotsRedirect,
  robotsUrlOf,
} from '../../src/domain/robots-url.ts';
import { loadCases } from '../support/cases.ts';

interface Answer {
  readonly url?: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly bodyNote?: string;
}

interface Scenario {
  readonly id: string;
  readonly name: string;
  readonly contested: boolean;
  readonly behaviour: {
    readonly responses?: readonly Answer[];
    readonly cached?: { readonly body: string; readonly ageHours: number };
    readonly unreachableDays?: number;
    readonly network?: string;
    readonly urls?: readonly string[];
    readonly page?: string;
    readonly robotsOfB?: string;
  };
  readonly expected: {
    readonly decision?: string;
    readonly sequence?: readonly string[];
    readonly retry?: boolean;
    readonly requests?: number;
    readonly allow?: readonly string[];
    readonly disallow?: readonly string[];
    readonly fetched?: readonly string[];
    readonly mustNotFetch?: readonly string[];
    readonly mustNotRequest?: readonly string[];
  };
}

const SITE = 'http://site.test';
const TOKEN = 'foobot';
const BYTES_MAX = 512_000;
const HOUR_MS = 3_600_000;
/** Body of the cases that only say how the file is encoded; decoding is the fetcher's and tested there. */
const FILE = 'User-agent: foobot\nDisallow: /restricted/\n';

/** Network behaviours and how the fetcher reports them. */
const REASONS: readonly (readonly [RegExp, RobotsUnreachableReason])[] = [
  [/SYN|connect|refused/i, 'connect-timeout'],
  [/TLS|certificate/i, 'tls'],
  [/dns|NXDOMAIN|SERVFAIL|resol/i, 'dns'],
  [/reset|RST|clos/i, 'reset'],
  [/garbage|not HTTP/i, 'protocol'],
  [/./, 'read-timeout'],
];

const scenarios: readonly Scenario[] = loadCases('robots-http.json')?.cases ?? [];
const skip = scenarios.length === 0 ? 'the folder ../shared/cases is absent' : false;

test('robots-http.json holds scenarios, all of a kind this suite can play', { skip }, () => {
  const unknown = scenarios.filter(({ behaviour: one }) =>
    [one.responses, one.network, one.urls, one.robotsOfB].every((part) => part === undefined),
  );
  deepStrictEqual(
    unknown.map(({ id }) => id),
    [],
  );
});

for (const scenario of scenarios.filter(({ contested }) => !contested)) {
  test(`decideRobots and its URLs keep ${scenario.id} ${scenario.name}`, () => {
    const { behaviour, expected } = scenario;
    if (behaviour.urls !== undefined) {
      deepStrictEqual([...new Set(behaviour.urls.map(robotsUrlOf))], expected.fetched);
      return;
    }
    if (behaviour.robotsOfB !== undefined) {
      for (const url of expected.mustNotFetch ?? [])
        strictEqual(matchRobots(rulesOf(behaviour.robotsOfB), url).allowed, false);
      return;
    }
    const played = play(scenario);
    const last = played.decisions.at(-1);
    ok(last !== undefined);
    const sequence = expected.sequence ?? [expected.decision ?? ''];
    strictEqual(played.decisions.length, sequence.length);
    for (const [at, decision] of played.decisions.entries()) {
      const effect = effectOf(decision.rules);
      ok(sequence[at]?.split('-or-').includes(effect), `${effect} at ${at}`);
    }
    if (expected.retry === true) ok(last.retryInMs !== undefined);
    if (expected.requests !== undefined) strictEqual(played.requested.length, expected.requests);
    for (const path of expected.allow ?? []) ok(matchRobots(last.rules, SITE + path).allowed, path);
    for (const path of expected.disallow ?? [])
      ok(!matchRobots(last.rules, SITE + path).allowed, path);
    for (const host of expected.mustNotRequest ?? [])
      ok(!played.requested.some((url) => new URL(url).hostname === host), host);
  });
}

/** Plays the answers one after the other, each final one a decision. */
function play(scenario: Scenario): { decisions: RobotsDecision[]; requested: string[] } {
  const { cached, unreachableDays, network, responses } = scenario.behaviour;
  const decisions: RobotsDecision[] = [];
  const requested: string[] = [];
  const answers = [...(responses ?? [])];
  let failures = unreachableDays === undefined ? 0 : 100;
  let previous = cached === undefined ? undefined : rulesOf(cached.body);
  ok((cached?.ageHours ?? 25) * HOUR_MS > ROBOTS_FRESH_MS_MAX, 'a fresh copy would not be fetched');
  do {
    const outcome = network === undefined ? fetchOnce(answers, requested) : lost(network);
    const decision = decideRobots(outcome, {
      productToken: TOKEN,
      bytesMax: BYTES_MAX,
      failures,
      unreachableMs: (unreachableDays ?? 0) * 24 * HOUR_MS,
      ...(previous === undefined ? {} : { previous }),
    });
    decisions.push(decision);
    failures = decision.retryInMs === undefined ? 0 : failures + 1;
    previous = decision.kind === 'rules' ? decision.rules : undefined;
  } while (answers.length > 0);
  return { decisions, requested };
}

/** One fetch with its redirects; an address that may not be asked is refused, as the address guard does. */
function fetchOnce(answers: Answer[], requested: string[]): RobotsFetchOutcome {
  let url = `${SITE}/robots.txt`;
  for (let followed = 0; ; followed++) {
    if (/^(?:169\.254|10|127|192\.168)\./.test(new URL(url).hostname))
      return { kind: 'unreachable', reason: 'address-refused' };
    requested.push(url);
    const answer = answers.shift();
    ok(answer !== undefined, `the scenario has no answer for ${url}`);
    if (answer.url !== undefined) strictEqual(url, answer.url);
    if (!isRobotsRedirect(answer.status)) return responseOf(answer);
    const step = followRobotsRedirect({
      from: url,
      location: answer.headers?.Location,
      followed,
    });
    if (step.kind === 'follow') url = step.url;
    else {
      answers.length = 0;
      return step;
    }
  }
}

function responseOf(answer: Answer): RobotsFetchOutcome {
  const headers = new Map(
    Object.entries(answer.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const cacheControl = headers.get('cache-control');
  return {
    kind: 'response',
    status: answer.status,
    body: Buffer.from(answer.body ?? (answer.bodyNote === undefined ? '' : FILE)),
    ...(cacheControl === undefined ? {} : { cacheControl }),
  };
}

function lost(network: string): RobotsFetchOutcome {
  const reason = REASONS.find(([pattern]) => pattern.test(network))?.[1] ?? 'read-timeout';
  return { kind: 'unreachable', reason };
}

function rulesOf(body: string): RobotsRules {
  return selectRules(parseRobots(Buffer.from(body), { bytesMax: BYTES_MAX }), TOKEN);
}

/** What the rules come to, in the words of the suite. */
function effectOf(rules: RobotsRules): string {
  if (!matchRobots(rules, `${SITE}/`).allowed) return 'disallow-all';
  return rules.patterns.length === 0 ? 'allow-all' : 'obey-rules';
}
