// The memory of the calling thread, as `heap` tells it (DESIGN.md §10).

import { getHeapStatistics } from 'node:v8';
import type { HeapReport } from '../ops/reports.ts';

/** @param thread the name it goes by */
export function heapReport(thread: string): HeapReport {
  const { heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage();
  return {
    thread,
    heapUsedBytes: heapUsed,
    heapTotalBytes: heapTotal,
    heapLimitBytes: getHeapStatistics().heap_size_limit,
    externalBytes: external,
    arrayBuffersBytes: arrayBuffers,
  };
}
