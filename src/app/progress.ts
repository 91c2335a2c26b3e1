export interface ProgressSnapshot {
  pages: number;
  fetched: number;
  queued: number;
  inFlight: number;
  hostsReady: number;
  hostsWaiting: number;
  pagesPerSecond: number;
  bytes: number;
  seconds: number;
  limit: number | undefined;
}
export function createProgress(_kind: string): {
  show(s: () => ProgressSnapshot): void;
  close(): void;
} {
  let last = 0;
  return {
    show(s) {
      if (performance.now() - last > 1000) {
        last = performance.now();
        process.stderr.write(`${JSON.stringify(s())}\n`);
      }
    },
    close() {},
  };
}
