// Query parameters that say where a visitor came from and never what the page shows: part of step 1 (DESIGN.md §1). They are dropped from
// the canonical URL, which is the identity of a page; the URL that is requested keeps them. The lists stay short on purpose: a name
// dropped wrongly merges two pages and loses one for good, a name kept wrongly costs one duplicate fetch. Hosts with habits of their own
// get rules of their own. Invariant: the verdict depends on the parameter's name and the host only, so dropping is idempotent.

/** Campaign and click identifiers of the crawl's stated policy. A final `*` stands for any ending. */
const POLICY_NAMES: readonly string[] = [
  'utm_*',
  'gclid',
  'gclsrc',
  'dclid',
  'gbraid',
  'wbraid',
  'fbclid',
  'msclkid',
  'yclid',
  'twclid',
  'ttclid',
  'igshid',
  'mc_eid',
  'mc_cid',
  '_ga',
  '_gl',
  '_hsenc',
  '_hsmi',
  'mkt_tok',
  'li_fat_id',
];

/**
 * Further click identifiers, each minted by one advertiser or mailer under a name that nobody uses for content: Google Ads (`gad_*`,
 * `srsltid`), Yandex (`ysclid`, `_openstat`), HubSpot (`__hs*`, `hsctatracking`), Instagram (`igsh`), Pinterest (`epik`), Reddit
 * (`rdt_cid`), Klaviyo (`_kx`), Omeda (`oly_*_id`), Vero (`vero_id`), Microsoft (`ndclid`), Matomo (`mtm_*`).
 */
const WELL_KNOWN_NAMES: readonly string[] = [
  'gad_source',
  'gad_campaignid',
  'srsltid',
  'ysclid',
  '_openstat',
  '__hstc',
  '__hssc',
  '__hsfp',
  'hsctatracking',
  'igsh',
  'epik',
  'rdt_cid',
  '_kx',
  'oly_anon_id',
  'oly_enc_id',
  'vero_id',
  'ndclid',
  'mtm_*',
];

/** What an operator may change. Names are compared without regard to ASCII case; a final `*` stands for any ending. */
export interface TrackingOptions {
  /** Names to drop on every host, besides the built-in ones. */
  readonly drop?: readonly string[];
  /** Names to keep on every host although they are built in. */
  readonly keep?: readonly string[];
  /** Rules of one host and all hosts below it, by its lower-case name; the longest name that matches counts. */
  readonly hosts?: Readonly<Record<string, HostTrackingOptions>>;
}

/** Rules of one host. `keep` wins over `drop`, and both win over the lists for all hosts. */
export interface HostTrackingOptions {
  readonly drop?: readonly string[];
  readonly keep?: readonly string[];
}

/** Exact names in a set and prefixes in a list: two look-ups decide most names. */
class NameList {
  readonly #names = new Set<string>();
  readonly #prefixes: string[] = [];

  constructor(patterns: readonly string[]) {
    for (const pattern of patterns) {
      const name = pattern.toLowerCase();
      if (name.endsWith('*')) this.#prefixes.push(name.slice(0, -1));
      else this.#names.add(name);
    }
  }

  /** @param name lower case */
  has(name: string): boolean {
    if (this.#names.has(name)) return true;
    for (const prefix of this.#prefixes) if (name.startsWith(prefix)) return true;
    return false;
  }
}

/** Decides which parameters of a host are tracking. Immutable; one instance serves a whole thread. */
export class TrackingParameters {
  readonly #drop: NameList;
  readonly #keep: NameList;
  readonly #droppedNames: readonly string[];
  readonly #hosts = new Map<string, { readonly drop: NameList; readonly keep: NameList }>();

  constructor(options: TrackingOptions = {}) {
    const everywhere = [...POLICY_NAMES, ...WELL_KNOWN_NAMES, ...(options.drop ?? [])];
    const byHost = Object.values(options.hosts ?? {}).flatMap((rules) => rules.drop ?? []);
    this.#droppedNames = [...everywhere, ...byHost].map((name) => name.toLowerCase());
    this.#drop = new NameList(everywhere);
    this.#keep = new NameList(options.keep ?? []);
    for (const [host, rules] of Object.entries(options.hosts ?? {})) {
      this.#hosts.set(host.toLowerCase(), {
        drop: new NameList(rules.drop ?? []),
        keep: new NameList(rules.keep ?? []),
      });
    }
  }

  /** Every name that is dropped on some host, in lower case; a final `*` stands for any ending. */
  droppedNames(): readonly string[] {
    return this.#droppedNames;
  }

  /**
   * @param name name of a query parameter with its escapes normalised, any case
   * @param host lower-case host name of the URL
   * @returns true when the parameter is no part of the page's identity
   */
  isTracking(name: string, host: string): boolean {
    const lower = name.toLowerCase();
    if (this.#hosts.size > 0) {
      const own = this.#rulesOf(host);
      if (own?.keep.has(lower) === true) return false;
      if (own?.drop.has(lower) === true) return true;
    }
    return this.#drop.has(lower) && !this.#keep.has(lower);
  }

  /** Looks for the host, then for each parent: at most 127 labels, since a host name has at most 253 characters. */
  #rulesOf(host: string): { readonly drop: NameList; readonly keep: NameList } | undefined {
    let from = 0;
    while (true) {
      const rules = this.#hosts.get(from === 0 ? host : host.slice(from));
      if (rules !== undefined) return rules;
      const dot = host.indexOf('.', from);
      if (dot === -1) return undefined;
      from = dot + 1;
    }
  }
}
