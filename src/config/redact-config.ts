// The configuration as it may be shown: to `inspect config`, in logs, to anybody. Of what is sent to single hosts only the names remain. The
// one place that knows which parts of the configuration are secret; a test greps every output of a crawl for the values.

import type { HostOverride } from './host-override.ts';
import type { CrawlConfig } from './options.ts';

/** Stands for what is not shown. */
export const REDACTED = '(redacted)';

/** A configuration without its secrets, plain data. */
export function redactedConfig(config: CrawlConfig): Readonly<Record<string, unknown>> {
  return { ...config, hostOverrides: config.hostOverrides.map(redactedOverride) };
}

function redactedOverride(override: HostOverride): Readonly<Record<string, unknown>> {
  const { headers, login, cookies, proxy, ...pace } = override;
  const names = Object.keys(headers ?? {});
  return {
    ...pace,
    ...(headers && { headers: Object.fromEntries(names.map((name) => [name, REDACTED])) }),
    ...(login !== undefined && { login: REDACTED }),
    ...(cookies !== undefined && { cookies: REDACTED }),
    ...(proxy !== undefined && { proxy: proxy.replace(/\/\/.*@/, `//${REDACTED}@`) }),
  };
}
