// The schedule of visits on the simulated disk: rows of pages that are due at one time, with the rules of the real table (due-table.ts): rows
// are bounded, appended to within a commit, read in the order of time, and what was dealt out is taken off their front.
import type {
  DueCheckpoint,
  DueLook,
  DueRow,
  DueRowPlace,
  DueRowTaken,
  StateReader,
} from '../../../src/actors/ports.ts';
import type { PartitionIndex } from '../../../src/base/units.ts';

/** Small, so that rows of one time are many. */
const PAGES_MAX = 4;

interface SimDueRow extends DueRowPlace {
  pages: DueRow['pages'][number][];
}

export class SimDue {
  #rows: SimDueRow[] = [];

  add({ partition, dueAt, hostKey, urlKey }: DueCheckpoint): void {
    if (dueAt === 0) return;
    const ofTime = this.#rows.filter((row) => row.partition === partition && row.dueAt === dueAt);
    const last = ofTime.at(-1);
    if (last !== undefined && last.pages.length < PAGES_MAX) last.pages.push({ hostKey, urlKey });
    else {
      const number = last === undefined ? 0 : last.number + 1;
      this.#rows.push({ partition, dueAt, number, pages: [{ hostKey, urlKey }] });
    }
  }

  taken({ partition, dueAt, number, count }: DueRowTaken): void {
    const row = this.#rows.find(
      (other) => other.partition === partition && other.dueAt === dueAt && other.number === number,
    );
    if (row === undefined) throw new Error(`a due row of ${dueAt} taken twice`);
    row.pages = row.pages.slice(count);
    if (row.pages.length === 0) this.#rows = this.#rows.filter((other) => other !== row);
  }

  look(
    owns: (partition: PartitionIndex) => boolean,
    { now, rowsMax, isTaken }: Parameters<StateReader['due']>[1],
  ): DueLook {
    const rows = this.#rows
      .filter((row) => owns(row.partition) && !isTaken(row))
      .sort((a, b) => a.dueAt - b.dueAt || a.number - b.number);
    const due = rows.filter(({ dueAt }) => dueAt <= now);
    const left = due[rowsMax] ?? rows[due.length];
    const copies = due.slice(0, rowsMax).map((row) => ({ ...row, pages: [...row.pages] }));
    return { rows: copies, nextAt: left?.dueAt ?? Infinity };
  }

  /** Every page of the schedule. */
  *pages(): Generator<DueCheckpoint> {
    for (const { partition, dueAt, pages } of this.#rows) {
      for (const page of pages) yield { partition, dueAt, ...page };
    }
  }
}
