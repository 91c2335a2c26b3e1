// Records on their way into a Parquet file (`export … --parquet FILE`, DESIGN.md §9): columns of plain types, written by hyparquet-writer a row
// group at a time, so that memory holds one group whatever the crawl's size. The file appears under its name only when it is whole: a reader
// never meets half a file, and an export that fails leaves what was there.

import { renameSync, rmSync } from 'node:fs';
import { fileWriter, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer';
import { CrawlError } from '../base/errors.ts';

/** Rows of a group: some 20 MB of objects; readers skip whole groups by their statistics. */
const GROUP_ROWS = 50_000;

type ColumnType = 'STRING' | 'INT32' | 'INT64' | 'BOOLEAN' | 'TIMESTAMP';
type Cell = string | number | bigint | boolean | Date | null;

/** A column: its name, its Parquet type, and what a record has there; null where it has nothing. */
export interface ParquetColumn<Row> {
  readonly name: string;
  readonly type: ColumnType;
  readonly of: (row: Row) => Cell | undefined;
}

export class ParquetOutput<Row> {
  readonly #path: string;
  readonly #columns: readonly ParquetColumn<Row>[];
  readonly #writer: ParquetWriter;
  #rows: Row[] = [];

  /**
   * @param path of the file; one that is there is replaced in the end
   * @throws CrawlError disk when it cannot be made
   */
  constructor(path: string, columns: readonly ParquetColumn<Row>[]) {
    this.#path = path;
    this.#columns = columns;
    this.#writer = this.#guarded(() => {
      const columnData = columns.map(({ name, type }) => ({ name, type, data: [] }));
      const schema = schemaFromColumnData({ columnData });
      return new ParquetWriter({ writer: fileWriter(this.#partPath), schema });
    });
  }

  /** Takes a record. @throws CrawlError disk */
  add(row: Row): void {
    this.#rows.push(row);
    if (this.#rows.length >= GROUP_ROWS) this.#writeGroup();
  }

  /** Writes the rest and gives the file its name. @throws CrawlError disk */
  finish(): void {
    this.#writeGroup();
    this.#guarded(() => {
      void this.#writer.finish();
      renameSync(this.#partPath, this.#path);
    });
  }

  /** Removes what was written. */
  abandon(): void {
    rmSync(this.#partPath, { force: true });
  }

  get #partPath(): string {
    return `${this.#path}.part`;
  }

  #writeGroup(): void {
    const rows = this.#rows;
    if (rows.length === 0) return;
    this.#rows = [];
    const columnData = this.#columns.map(({ name, type, of }) => ({
      ...{ name, type },
      data: rows.map((row) => of(row) ?? null),
    }));
    this.#guarded(() => void this.#writer.write({ columnData, rowGroupSize: rows.length }));
  }

  #guarded<Result>(write: () => Result): Result {
    try {
      return write();
    } catch (cause) {
      this.abandon();
      throw new CrawlError('disk', `${this.#path} cannot be written: ${String(cause)}`, {
        remedy: 'Name a file in a directory that may be written, with room for it.',
        cause,
      });
    }
  }
}
