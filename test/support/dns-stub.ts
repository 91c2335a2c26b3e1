// A DNS server on loopback that answers by a script: the tests of the resolver decide what it says, or that it says nothing.

import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type Answer, decode, encode } from 'dns-packet';

/** What to say to one question; `undefined` is silence. */
export interface StubReply {
  /** RFC 1035 response code: 0 fine, 2 SERVFAIL, 3 NXDOMAIN, 5 REFUSED. */
  readonly code?: number;
  readonly answers?: readonly Answer[];
  readonly delayMs?: number;
}

export type StubScript = (name: string, type: string) => StubReply | undefined;

export class DnsStub {
  readonly questions: { readonly name: string; readonly type: string }[] = [];
  /** Largest number of questions that were open at one time. */
  openMax = 0;
  #open = 0;
  readonly #socket: Socket = createSocket('udp4');
  readonly #script: StubScript;

  private constructor(script: StubScript) {
    this.#script = script;
    this.#socket.on('message', (message, from) => this.#answer(message, from));
  }

  static async listen(script: StubScript): Promise<DnsStub> {
    const stub = new DnsStub(script);
    stub.#socket.bind(0, '127.0.0.1');
    await once(stub.#socket, 'listening');
    return stub;
  }

  /** `address:port` for a resolver's options. */
  get server(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  async close(): Promise<void> {
    this.#socket.close();
    await once(this.#socket, 'close');
  }

  #answer(message: Buffer, from: RemoteInfo): void {
    const { id, questions } = decode(message);
    const question = questions?.[0];
    if (question === undefined) return;
    this.questions.push({ name: question.name, type: question.type });
    const reply = this.#script(question.name, question.type);
    if (reply === undefined) return;
    this.#open += 1;
    this.openMax = Math.max(this.openMax, this.#open);
    const recursion = 0x0180; // RD and RA
    const packet = encode({
      type: 'response',
      id: id ?? 0,
      flags: recursion | (reply.code ?? 0),
      questions: [question],
      answers: [...(reply.answers ?? [])],
    });
    setTimeout(() => {
      this.#open -= 1;
      this.#socket.send(packet, from.port, from.address, () => {});
    }, reply.delayMs ?? 0);
  }
}
