// What is sent to some hosts beside the ordinary request (step 9; hostOverrides): further fields, a login, cookies. Two lists each: the fields
// as they are sent, and as the WARC record of the request shows them, names without values, since archives are passed on and a password in
// one would be known to all who have it.

/** What an operator has set for a host. */
export interface HostRequestSettings {
  readonly headers?: Readonly<Record<string, string>>;
  /** `user:password` */
  readonly login?: string;
  /** `name=value; name=value` */
  readonly cookies?: string;
  /** `http://user:password@ADDRESS:PORT`, a proxy that takes CONNECT. */
  readonly proxy?: string;
}

/** The fields for a host, flat as undici takes them. */
export interface HostFields {
  readonly sent: readonly string[];
  /** The same with each secret value replaced. */
  readonly shown: readonly string[];
}

const HIDDEN = '(redacted)';
/** Fields whose values tell nothing that would have to be hidden. */
const OPEN_FIELDS: ReadonlySet<string> = new Set(['accept', 'accept-language', 'from', 'dnt']);

/**
 * Joins the settings of a host to the standing fields; a standing field of the same name gives way.
 * @returns undefined when nothing is set: the request is then the ordinary one
 */
export function hostFieldsOf(
  standing: readonly string[],
  settings: HostRequestSettings,
): HostFields | undefined {
  const own: [name: string, value: string][] = Object.entries(settings.headers ?? {});
  const { login, cookies } = settings;
  if (login !== undefined) {
    own.push(['Authorization', `Basic ${Buffer.from(login, 'latin1').toString('base64')}`]);
  }
  if (cookies !== undefined) own.push(['Cookie', cookies]);
  if (own.length === 0) return undefined;
  const names = new Set(own.map(([name]) => name.toLowerCase()));
  const kept: string[] = [];
  for (let index = 0; index < standing.length; index += 2) {
    const name = standing[index] as string;
    if (!names.has(name.toLowerCase())) kept.push(name, standing[index + 1] as string);
  }
  const isOpen = (name: string): boolean => OPEN_FIELDS.has(name.toLowerCase());
  return {
    sent: [...kept, ...own.flat()],
    shown: [...kept, ...own.flatMap(([name, value]) => [name, isOpen(name) ? value : HIDDEN])],
  };
}
