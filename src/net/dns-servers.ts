// Questions to DNS servers (before step 9 of a URL's life) through c-ares, Node's dns.Resolver; never dns.lookup, whose four threads a few
// dead names block for all. Each server may have only so many questions outstanding; further ones wait in a bounded queue. A question goes
// to one server after the other, in rounds, with a longer timeout each round; a server that keeps silent is asked last from then on.

import { type RecordWithTtl, Resolver } from 'node:dns';

/** What one server said, or none did. */
export type DnsAnswer =
  | { readonly kind: 'records'; readonly records: readonly RecordWithTtl[] }
  /** The name does not exist (NXDOMAIN), or cannot. */
  | { readonly kind: 'no-name' }
  /** The name exists and has no record of this type. */
  | { readonly kind: 'no-records' }
  | { readonly kind: 'failed'; readonly detail: string };

/** How servers are asked. */
export interface DnsServersOptions {
  /** Textual addresses, with a port where it is not 53: `192.0.2.1`, `192.0.2.1:5353`, `[2001:db8::1]:53`. At least one. */
  readonly servers: readonly string[];
  /** Longest wait for one server, one entry for each round; milliseconds. */
  readonly timeoutsMs: readonly number[];
  /** Questions outstanding at one server. */
  readonly concurrencyMax: number;
  /** Questions waiting for a free place; further ones fail at once. */
  readonly queueMax: number;
}

/** Codes of c-ares that are answers, not troubles of a server. */
const NO_NAME = new Set(['ENOTFOUND', 'EBADNAME', 'EBADQUERY']);

/** One server: a c-ares channel for each round, since a channel's timeout is fixed. */
class DnsServer {
  readonly address: string;
  readonly #channels: readonly Resolver[];
  outstanding = 0;
  /** Timeouts in a row. */
  silences = 0;

  constructor(address: string, timeoutsMs: readonly number[]) {
    this.address = address;
    this.#channels = timeoutsMs.map((timeout) => {
      const channel = new Resolver({ timeout, tries: 1 });
      channel.setServers([address]);
      return channel;
    });
  }

  ask(question: Question, done: (answer: DnsAnswer) => void): void {
    const channel = this.#channels[question.round] as Resolver;
    this.outstanding += 1;
    const answered = (error: NodeJS.ErrnoException | null, records: RecordWithTtl[]): void => {
      this.outstanding -= 1;
      const code = error?.code ?? '';
      this.silences = code === 'ETIMEOUT' ? this.silences + 1 : 0;
      if (error === null) done({ kind: 'records', records });
      else if (NO_NAME.has(code)) done({ kind: 'no-name' });
      else if (code === 'ENODATA') done({ kind: 'no-records' });
      else done({ kind: 'failed', detail: `${code} from ${this.address}` });
    };
    try {
      if (question.family === 4) channel.resolve4(question.host, { ttl: true }, answered);
      else channel.resolve6(question.host, { ttl: true }, answered);
    } catch (error) {
      // c-ares refuses some names (NUL, oversized) before asking; such a name exists nowhere.
      this.outstanding -= 1;
      const detail = String(error).slice(0, 100);
      process.nextTick(
        done,
        detail.includes('ERR_') ? { kind: 'no-name' } : { kind: 'failed', detail },
      );
    }
  }

  cancel(): void {
    for (const channel of this.#channels) channel.cancel();
  }
}

/** Waiting questions looked at for a free server at one time: those asked of full servers again must not make it quadratic. */
const SCAN_MAX = 256;

interface Question {
  readonly host: string;
  readonly family: 4 | 6;
  readonly done: (answer: DnsAnswer) => void;
  /** Servers still to be asked in this round. */
  left: DnsServer[];
  round: number;
  failure: string;
}

/** A set of servers that answer the same questions. */
export class DnsServers {
  readonly #servers: readonly DnsServer[];
  readonly #options: DnsServersOptions;
  readonly #waiting: Question[] = [];
  #isClosed = false;

  /** @throws TypeError when a server's address cannot be read (the caller checks them first) */
  constructor(options: DnsServersOptions) {
    this.#options = options;
    this.#servers = options.servers.map((address) => new DnsServer(address, options.timeoutsMs));
  }

  /** Asks for A (4) or AAAA (6) records. `done` is called exactly once, later. */
  ask(host: string, family: 4 | 6, done: (answer: DnsAnswer) => void): void {
    const full = this.#waiting.length >= this.#options.queueMax;
    if (this.#isClosed || full) {
      const detail = full ? 'too many questions waiting' : 'resolver closed';
      process.nextTick(done, { kind: 'failed', detail });
      return;
    }
    const left = this.#inOrder();
    this.#waiting.push({ host, family, done, left, round: 0, failure: '' });
    this.#pump();
  }

  /** Ends all questions as failed. */
  close(): void {
    this.#isClosed = true;
    for (const question of this.#waiting.splice(0)) {
      process.nextTick(question.done, { kind: 'failed', detail: 'resolver closed' });
    }
    for (const server of this.#servers) server.cancel();
  }

  /** Servers that answer first, in the configured order; silent ones last. */
  #inOrder(): DnsServer[] {
    return this.#servers.toSorted((a, b) => Math.min(a.silences, 3) - Math.min(b.silences, 3));
  }

  /** Starts what may start, oldest first. A question whose server is full lets later ones pass. */
  #pump(): void {
    for (let index = 0; index < Math.min(this.#waiting.length, SCAN_MAX); ) {
      const question = this.#waiting[index] as Question;
      const free = question.left.findIndex(
        (server) => server.outstanding < this.#options.concurrencyMax,
      );
      if (free < 0) {
        if (this.#servers.every((s) => s.outstanding >= this.#options.concurrencyMax)) return;
        index += 1;
        continue;
      }
      this.#waiting.splice(index, 1);
      const [server] = question.left.splice(free, 1);
      (server as DnsServer).ask(question, (answer) => this.#answered(question, answer));
    }
  }

  #answered(question: Question, answer: DnsAnswer): void {
    if (answer.kind === 'failed' && !this.#isClosed) {
      question.failure = answer.detail;
      if (this.#retry(question)) {
        this.#pump();
        return;
      }
    }
    question.done(answer);
    this.#pump();
  }

  /** Puts a question back in front, for the next server or the next round; false when there is none. */
  #retry(question: Question): boolean {
    if (question.left.length === 0) {
      question.round += 1;
      if (question.round >= this.#options.timeoutsMs.length) return false;
      question.left = this.#inOrder();
    }
    this.#waiting.unshift(question);
    return true;
  }
}
