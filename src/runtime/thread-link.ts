// A link (link.ts) between two threads over a MessagePort: both threads wrap one end of a MessageChannel. Encoded batches and bulk
// buffers are transferred, so nothing is copied between threads. Frames come only from our own code in this process, so their outer shape
// is trusted; the messages inside are validated all the same.
import type { MessagePort } from 'node:worker_threads';
import { type Frame, LinkEnd, type LinkOptions } from './link.ts';

/**
 * Opens this thread's end of a link.
 * @param port one end of a MessageChannel, used by this link alone; the link keeps the thread alive until it is closed
 */
export function openThreadLink<Out, In>(
  port: MessagePort,
  options: LinkOptions<In>,
): LinkEnd<Out, In> {
  const wire = {
    post: (frame: Frame, transfer: ArrayBuffer[]): void => port.postMessage(frame, transfer),
    close: (): void => port.close(),
  };
  const end = new LinkEnd<Out, In>(wire, options);
  port.on('message', (frame: Frame) => end.accept(frame));
  port.on('close', () => end.lose());
  return end;
}
