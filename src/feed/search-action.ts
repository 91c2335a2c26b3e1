// What an event means for an index of pages: a page's text is put in, taken out, or left as it is. One rule for all sinks that index.

import type { FeedDocument } from './feed-document.ts';

export type SearchAction = 'put' | 'remove' | 'leave';

/** Pages that ask not to be indexed, copies of others, and what is no text are not found; what was there before goes. */
export function searchAction({ record, text }: FeedDocument): SearchAction {
  if (record.kind === 'unchanged') return 'leave';
  if (record.kind === 'gone' || record.kind === 'duplicate') return 'remove';
  return text === undefined || record.noindex === true ? 'remove' : 'put';
}
