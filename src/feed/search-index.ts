// The local full-text index: one SQLite file with FTS5, through node-sqlite3-wasm, which needs no compiler and no server. A sink of the
// change feed that keeps its cursor in the file itself, in the same transaction as what it indexed, and answers questions ranked by BM25,
// title before text. One process writes at a time: the caller holds the folder's lock.

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import sqlite from 'node-sqlite3-wasm';
import { CrawlError } from '../base/errors.ts';
import type { FeedDocument } from './feed-document.ts';
import { searchAction } from './search-action.ts';
import type { Sink } from './sink.ts';

const FILE = 'pages.sqlite';
const PORTION_MAX = 256;
/** Characters of a page's text that are indexed. */
const TEXT_LENGTH_MAX = 200_000;
/** How much a word in the title counts more than one in the text. */
const TITLE_WEIGHT = 5;
/** Words in a snippet. */
const SNIPPET_WORDS = 24;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS pages (id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, language TEXT, fetchedAt TEXT NOT NULL);
  CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5(title, text, tokenize = 'unicode61 remove_diacritics 2');
`;

/** One page that was found. */
export interface FoundPage {
  readonly url: string;
  readonly title: string;
  readonly language: string | undefined;
  readonly fetchedAt: string;
  /** Text around the words, with the words between ⟦ and ⟧. */
  readonly snippet: string;
  /** Greater is better. */
  readonly score: number;
}

export class SearchIndex implements Sink {
  readonly name = 'local search index';
  readonly portionMax = PORTION_MAX;
  readonly #database: InstanceType<typeof sqlite.Database>;

  /**
   * Opens the index, makes it when there is none. The library marks a file in use by a folder beside it, which a killed process leaves; with
   * the lock held, nobody else can be using it.
   * @param folder is created
   * @param mode `read` for a process that has not the lock: it only asks
   * @throws CrawlError disk, data-damaged
   */
  constructor(folder: string, mode: 'write' | 'read' = 'write') {
    const path = join(folder, FILE);
    try {
      mkdirSync(folder, { recursive: true });
      if (mode === 'write') rmSync(`${path}.lock`, { recursive: true, force: true });
      this.#database = new sqlite.Database(path, { readOnly: mode === 'read' });
      if (mode === 'write') this.#database.exec(SCHEMA);
    } catch (cause) {
      throw new CrawlError('data-damaged', `${path}: ${(cause as Error).message}`, {
        remedy: `Remove ${folder}: the index is made anew from the change feed.`,
        cause,
      });
    }
  }

  keptCursor(): string | undefined {
    const row = this.#database.get("SELECT value FROM kept WHERE name = 'cursor'");
    return row === null ? undefined : String(row?.value);
  }

  deliver(documents: readonly FeedDocument[], cursor: string): Promise<void> {
    this.#database.exec('BEGIN');
    try {
      for (const document of documents) this.#apply(document);
      this.#database.run("INSERT OR REPLACE INTO kept VALUES ('cursor', ?)", [cursor]);
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
    return Promise.resolve();
  }

  /**
   * Pages that hold all the words, best first.
   * @param words as a person types them: words between quotation marks are a phrase; everything else in them is plain text
   */
  search(words: string, limit: number): FoundPage[] {
    const query = matchQuery(words);
    if (query === '') return [];
    const rows = this.#database.all(
      `SELECT url, language, fetchedAt, title, bm25(texts, ${TITLE_WEIGHT}, 1) AS rank,
         snippet(texts, 1, '⟦', '⟧', '…', ${SNIPPET_WORDS}) AS snippet
       FROM texts JOIN pages ON pages.id = texts.rowid
       WHERE texts MATCH ? ORDER BY rank LIMIT ?`,
      [query, limit],
    );
    return rows.map((row) => ({
      url: String(row.url),
      title: String(row.title),
      language: row.language === null ? undefined : String(row.language),
      fetchedAt: String(row.fetchedAt),
      snippet: String(row.snippet),
      score: -Number(row.rank),
    }));
  }

  close(): Promise<void> {
    this.#database.close();
    return Promise.resolve();
  }

  #apply(document: FeedDocument): void {
    const action = searchAction(document);
    if (action === 'leave') return;
    const { url, language = null, fetchedAt, title = '' } = document.record;
    const known = this.#database.get('SELECT id FROM pages WHERE url = ?', [url]);
    if (known !== null && known !== undefined) {
      const id = Number(known.id);
      this.#database.run('DELETE FROM texts WHERE rowid = ?', [id]);
      this.#database.run('DELETE FROM pages WHERE id = ?', [id]);
    }
    if (action === 'remove') return;
    const added = this.#database.run(
      'INSERT INTO pages (url, language, fetchedAt) VALUES (?, ?, ?)',
      [url, language, fetchedAt],
    );
    const text = (document.text ?? '').slice(0, TEXT_LENGTH_MAX);
    this.#database.run('INSERT INTO texts (rowid, title, text) VALUES (?, ?, ?)', [
      Number(added.lastInsertRowid),
      title,
      text,
    ]);
  }
}

/** True for the library's word that another process is writing just now. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && /\block|busy/i.test(error.message);
}

/** A query that FTS5 takes as plain words and phrases, whatever was typed. */
export function matchQuery(words: string): string {
  const parts: string[] = [];
  for (const [, phrase, word] of words.matchAll(/"([^"]*)"?|([^\s"]+)/g)) {
    const text = (phrase ?? word ?? '').trim();
    if (/[\p{L}\p{N}]/u.test(text)) parts.push(`"${text}"`);
  }
  return parts.join(' ');
}
