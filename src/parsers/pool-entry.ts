// The module that threads of a shard's guarded pool load (step 11): the plugged-in parsers around the one function that reads a page.

import { guardedRun } from './guarded-run.ts';
import { PARSERS } from './parser-list.ts';

/** What the pool calls for each page. */
export const run = guardedRun(PARSERS);
