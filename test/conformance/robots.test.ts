// robots.json: 1,197 questions to robots.txt files from public suites, asked through the function behind `robots test`.
import { deepStrictEqual, ok } from 'node:assert';
import { test } from 'node:test';
import { testRobots } from '../../src/domain/robots-test.ts';
import { loadCases } from '../support/cases.ts';

interface RobotsCase {
  readonly id: string;
  readonly source: string;
  readonly robotsTxt?: string;
  readonly robotsTxtBase64?: string;
  readonly robotsTxtParts?: readonly { readonly text: string; readonly times: number }[];
  readonly userAgent?: string;
  readonly url?: string;
  readonly robotsUrl?: string;
  readonly allowed?: boolean | null;
  readonly rfc9309?: boolean;
  readonly crawlDelay?: number | null;
  readonly sitemaps?: readonly string[];
  readonly governed?: boolean;
  readonly contested: boolean;
}

/** Our answers where suites and standards disagree; each with its reason. Keys: id, or ids of one kind. */
const CONTESTED: readonly {
  readonly ids: readonly string[];
  readonly take: 'suite' | 'rfc';
  readonly why: string;
}[] = [
  {
    ids: ['robots-0351'],
    take: 'rfc',
    why: 'RFC 9309 §2.2.2: /robots.txt itself is implicitly allowed',
  },
  {
    ids: ['robots-0669', 'robots-0675', 'robots-2050', 'robots-2053'],
    take: 'suite',
    why: 'a name outside ASCII is still a name, compared in full; suites and RFC agree',
  },
  {
    ids: ['robots-0878', 'robots-0884', 'robots-0885', 'robots-0887', 'robots-0888'],
    take: 'rfc',
    why: 'RFC 9309 §2.2.1: names match in full, so a group for hedwig does not bind hedwig-images',
  },
  {
    ids: ['robots-1874', 'robots-1876'],
    take: 'rfc',
    why: 'RFC 9309 §2.2.1: names match in full, so MOMspider does not bind MomSpiderJr',
  },
  {
    ids: ['robots-1140', 'robots-1143', 'robots-1146', 'robots-1149'],
    take: 'suite',
    why: 'a Crawl-delay belongs to the agents right above it, although it does not end their list',
  },
  {
    ids: ['robots-1141', 'robots-1169', 'robots-1177', 'robots-1865', 'robots-1867'],
    take: 'suite',
    why: 'the product token of a whole User-Agent is its name without the version; suites and RFC agree',
  },
  {
    ids: ['robots-1452'],
    take: 'rfc',
    why: 'RFC 9309 §2.2.2: /* has more octets than /, so it is the more specific rule',
  },
  {
    ids: ['robots-1660'],
    take: 'rfc',
    why: 'RFC 9309 §2.2.2: a rule before any user-agent line belongs to no group and binds nobody',
  },
  {
    ids: ['robots-1868', 'robots-1869'],
    take: 'rfc',
    why: 'RFC 9309 §2.2.2: a rule is a path; one that begins with a scheme matches no path',
  },
  {
    ids: ['robots-1916', 'robots-1918', 'robots-1920', 'robots-1922'],
    take: 'suite',
    why: 'of a whole User-Agent the name that has a group counts: the owner meant this crawler',
  },
];

const file = loadCases('robots.json');
const cases: readonly RobotsCase[] = file?.cases ?? [];
const skip = file === undefined ? 'the folder ../shared/cases is absent' : false;

test('testRobots gives the expected answer in every uncontested case of robots.json', {
  skip,
}, () => {
  const wrong = cases.filter((one) => !one.contested).flatMap((one) => differences(one, one));
  deepStrictEqual(wrong, []);
  ok(cases.length >= 1_000, 'the file holds over a thousand cases');
});

test('testRobots decides every contested case of robots.json as the table says', { skip }, () => {
  const undecided: string[] = [];
  const wrong: string[] = [];
  for (const one of cases.filter((each) => each.contested)) {
    const decision = CONTESTED.find(({ ids }) => ids.includes(one.id));
    if (decision === undefined) undecided.push(one.id);
    const isRfc = decision?.take === 'rfc' && one.rfc9309 !== undefined;
    wrong.push(...differences(one, isRfc ? { ...one, allowed: one.rfc9309 ?? null } : one));
  }
  deepStrictEqual({ undecided, wrong }, { undecided: [], wrong: [] });
});

/** Every way in which our answer to a case differs from what is expected. */
function differences(one: RobotsCase, expected: RobotsCase): string[] {
  // The one relative sitemap of the suite comes from a file whose address the case does not carry.
  const base = one.robotsUrl ?? (one.url === undefined ? originOf(one.sitemaps?.[0]) : undefined);
  const answer = testRobots({
    robotsTxt: bytesOf(one),
    userAgent: one.userAgent ?? 'anybot',
    ...(one.url === undefined ? {} : { url: one.url }),
    ...(base === undefined ? {} : { robotsUrl: base }),
  });
  const found: string[] = [];
  const compare = (field: string, actual: unknown, wanted: unknown): void => {
    if (JSON.stringify(actual) === JSON.stringify(wanted)) return;
    found.push(`${one.id} (${one.source}) ${field}: ${JSON.stringify(actual)}`);
  };
  if (expected.allowed !== undefined) compare('allowed', answer.allowed, expected.allowed);
  if (expected.governed !== undefined) compare('governed', answer.governed, expected.governed);
  if (expected.crawlDelay !== undefined)
    compare('crawlDelay', answer.crawlDelay, expected.crawlDelay);
  if (expected.sitemaps !== undefined) compare('sitemaps', answer.sitemaps, expected.sitemaps);
  return found;
}

function bytesOf(one: RobotsCase): Uint8Array {
  if (one.robotsTxtBase64 !== undefined) return Buffer.from(one.robotsTxtBase64, 'base64');
  const parts = one.robotsTxtParts?.map(({ text, times }) => text.repeat(times)).join('');
  return Buffer.from(one.robotsTxt ?? parts ?? '', 'utf8');
}

function originOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : new URL('/robots.txt', url).href;
}
