// Whether the owner of a host asked to be left alone (config `optOut`, `optOutFile`; DESIGN.md §4, step 5), for `why URL`. The file is read
// as it is now: a crawl that runs reads it within a second of a change, so it says the same.

import { DomainSet } from '../config/host-override.ts';
import type { CrawlConfig } from '../config/options.ts';
import { readOptOutFile } from './opt-out-file.ts';

/** Who is left alone, and what says so. */
export interface WhyOptOut {
  /** The domain on the list; the host is it, or lies below it. */
  readonly domain: string;
  /** `optOut`, or the path of the opt-out file. */
  readonly listedIn: string;
}

/**
 * @param host lower-case host name without port
 * @returns undefined when the host is not left alone
 * @throws CrawlError config when the file cannot be read
 */
export function optOutOf(
  { optOut, optOutFile }: Pick<CrawlConfig, 'optOut' | 'optOutFile'>,
  host: string,
): WhyOptOut | undefined {
  const configured = new DomainSet(optOut).domainOf(host);
  if (configured !== undefined) return { domain: configured, listedIn: 'optOut' };
  if (optOutFile === undefined) return undefined;
  const domain = new DomainSet(readOptOutFile(optOutFile).domains).domainOf(host);
  return domain === undefined ? undefined : { domain, listedIn: optOutFile };
}
