// The inside of a worker thread started by thread-host.ts: say when ready, hear the order to stop, report trouble. A thread's entry file
// (in app/) calls these; an error that nobody catches ends the thread, and its host sees that as a failed exit.
import { parentPort } from 'node:worker_threads';
import { assert } from '../base/assert.ts';
import {
  errorText,
  THREAD_PROTOCOL,
  type ThreadOrder,
  type ThreadReport,
} from './thread-protocol.ts';

/** Tells the host that this thread does its work from now on. */
export function threadReady(): void {
  report({ protocol: THREAD_PROTOCOL, kind: 'ready' });
}

/** Tells the host of trouble that this thread survives. */
export function threadTrouble(error: unknown): void {
  report({ protocol: THREAD_PROTOCOL, kind: 'trouble', error: errorText(error) });
}

/**
 * Calls back once when the host asks this thread to stop. The thread must then let go of everything that keeps it alive; until a stop is
 * ordered, listening keeps it alive.
 */
export function onThreadStop(stop: () => void): void {
  const port = parentPort;
  assert(port !== null, () => 'not in a worker thread');
  const listen = (order: ThreadOrder | undefined): void => {
    if (order?.protocol !== THREAD_PROTOCOL || order.kind !== 'stop') return;
    port.off('message', listen);
    stop();
  };
  port.on('message', listen);
}

function report(value: ThreadReport): void {
  assert(parentPort !== null, () => 'not in a worker thread');
  parentPort.postMessage(value);
}
