// Ports for tests of single actors: what is asked of them is written down and answered by the test. They stand for storage and network,
// never for a class of the crawl itself.

import type {
  CheckpointBatch,
  CheckpointPort,
  DeniedCheckpoint,
  FetchOutcome,
  FetchPort,
  FetchRequest,
  StateReader,
} from '../../../src/actors/ports.ts';

/** Storage that commits when the test says so. */
export class RecordingCheckpoint implements CheckpointPort {
  readonly batches: CheckpointBatch[] = [];
  /** What `pendingBytes` answers. */
  pending = 0;

  submit(batch: CheckpointBatch): void {
    this.batches.push(batch);
  }

  pendingBytes(): number {
    return this.pending;
  }
}

/** A network whose requests end when the test says so. */
export class RecordingFetch implements FetchPort {
  readonly started: {
    readonly request: FetchRequest;
    readonly ended: (outcome: FetchOutcome) => void;
  }[] = [];

  start(request: FetchRequest, ended: (outcome: FetchOutcome) => void): void {
    this.started.push({ request, ended });
  }

  abort(): void {}

  release(): void {}
}

/** Stored state that holds denied URLs at most. */
export function readerOf(denied: readonly DeniedCheckpoint[] = []): StateReader {
  return {
    host: () => undefined,
    robots: () => [],
    chunk: () => undefined,
    page: () => undefined,
    rendered: () => undefined,
    denied: () => denied,
    isDenied: (_host, _partition, urlKey) => denied.some(({ entry }) => entry.urlKey === urlKey),
    hostsWithWork: () => [],
    unparsed: () => [],
    due: () => ({ rows: [], nextAt: Infinity }),
    body: () => undefined,
  };
}
