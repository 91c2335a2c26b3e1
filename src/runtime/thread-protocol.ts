// What passes between a thread and the one that started it, apart from links: ready, stop, and trouble as values. Both sides import this
// file, thread-host.ts on the outside and thread-entry.ts within.

/** Version of this protocol and of what goes through workerData. */
export const THREAD_PROTOCOL = 'hostler-thread-1';

/** From the thread to its host. */
export type ThreadReport =
  | { readonly protocol: typeof THREAD_PROTOCOL; readonly kind: 'ready' }
  /** Trouble that the thread survived, or that it is about to end of. */
  | { readonly protocol: typeof THREAD_PROTOCOL; readonly kind: 'trouble'; readonly error: string };

/** From the host to its thread. */
export interface ThreadOrder {
  readonly protocol: typeof THREAD_PROTOCOL;
  readonly kind: 'stop';
}

/** Whether something that arrived on the channel is a report of ours. */
export function isThreadReport(value: unknown): value is ThreadReport {
  return typeof value === 'object' && value !== null && 'protocol' in value
    ? value.protocol === THREAD_PROTOCOL
    : false;
}

/** Any error as a bounded text. */
export function errorText(error: unknown): string {
  if (error instanceof Error)
    return `${error.stack ?? `${error.name}: ${error.message}`}`.slice(0, 2000);
  return `thrown ${typeof error}: ${String(error)}`.slice(0, 2000);
}
