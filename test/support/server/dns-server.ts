// The name server of the shipped web, over UDP and TCP on 127.0.0.1: A records by the world's rules (address, NXDOMAIN, SERVFAIL or
// silence), no AAAA unless asked for, aliases through CNAME when asked for, every query counted. Small on purpose: it is authoritative
// for one top domain and refuses to know anything else.
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Packet } from 'dns-packet';
import type { World } from '../world/world.ts';

const NOERROR = 0;
const SERVFAIL = 2;
const NXDOMAIN = 3;
const TRUNCATED = 1 << 9;
const MESSAGE_BYTES_MAX = 4096;

/** How the name server differs from the plainest one. */
export interface DnsOptions {
  /** Seconds. Default 300. */
  readonly ttlSeconds?: number;
  /** Answers go through an alias: `host-000001.test` CNAME `alias-host-000001.test` A. Default false. */
  readonly cname?: boolean;
  /** AAAA queries get this address instead of an empty answer. */
  readonly aaaa?: string;
  /** UDP answers are empty and marked truncated, so that a client must come by TCP. Default false. */
  readonly truncate?: boolean;
  /** Fixed addresses by lower-case name, before the world's rules: several, or a new one at each query. */
  readonly override?: (name: string) => readonly string[] | null;
}

/** Queries so far. */
export interface DnsCounts {
  readonly udp: number;
  readonly tcp: number;
  readonly byType: Readonly<Record<string, number>>;
}

/** A name server that is running. */
export class DnsServer {
  readonly #world: World;
  readonly #options: DnsOptions;
  readonly #udp: UdpSocket;
  readonly #tcp: Server;
  readonly #connections = new Set<Socket>();
  readonly #counts = { udp: 0, tcp: 0, byType: {} as Record<string, number> };

  private constructor(world: World, options: DnsOptions) {
    this.#world = world;
    this.#options = options;
    this.#udp = createSocket('udp4', (message, remote) => this.#fromUdp(message, remote));
    this.#tcp = createServer((socket) => this.#fromTcp(socket));
  }

  /**
   * Starts answering.
   * @param port 0 for any that is free for both transports
   * @throws the system's error when the port is taken
   */
  static async listen(
    port: number,
    world: World,
    options: DnsOptions = {},
  ): Promise<{ server: DnsServer; port: number }> {
    for (let tries = port === 0 ? 20 : 1; ; tries--) {
      const server = new DnsServer(world, options);
      try {
        return { server, port: await server.#bind(port) };
      } catch (error) {
        // A free UDP port may be taken for TCP: take another.
        await server.close();
        if (tries <= 1) throw error;
      }
    }
  }

  get counts(): DnsCounts {
    return this.#counts;
  }

  /** Stops answering and frees the port. */
  async close(): Promise<void> {
    for (const socket of this.#connections) socket.destroy();
    await new Promise<void>((resolve) => {
      if (this.#tcp.listening) this.#tcp.close(() => resolve());
      else resolve();
    });
    await new Promise<void>((resolve) => this.#udp.close(() => resolve()));
  }

  async #bind(port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#udp.once('error', reject);
      this.#udp.bind(port, '127.0.0.1', resolve);
    });
    const bound = this.#udp.address().port;
    await new Promise<void>((resolve, reject) => {
      this.#tcp.once('error', reject);
      this.#tcp.listen(bound, '127.0.0.1', resolve);
    });
    return bound;
  }

  #fromUdp(message: Buffer, remote: RemoteInfo): void {
    this.#counts.udp++;
    const answer = this.#answer(message, this.#options.truncate === true);
    if (answer !== null) this.#udp.send(answer, remote.port, remote.address);
  }

  #fromTcp(socket: Socket): void {
    this.#connections.add(socket);
    let unread = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#connections.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      unread = Buffer.concat([unread, chunk]);
      while (unread.length >= 2 && unread.length >= 2 + unread.readUInt16BE(0)) {
        const length = unread.readUInt16BE(0);
        if (length > MESSAGE_BYTES_MAX) {
          socket.destroy();
          return;
        }
        this.#counts.tcp++;
        const answer = this.#answer(unread.subarray(2, 2 + length), false);
        unread = unread.subarray(2 + length);
        if (answer === null) continue;
        const prefix = Buffer.alloc(2);
        prefix.writeUInt16BE(answer.length);
        socket.write(Buffer.concat([prefix, answer]));
      }
    });
  }

  /** The bytes of the answer; null for silence. */
  #answer(message: Buffer, truncate: boolean): Buffer | null {
    const query = decodeQuery(message);
    const question = query?.questions?.[0];
    if (query === null || question === undefined) return null;
    const { name, type } = question;
    this.#counts.byType[type] = (this.#counts.byType[type] ?? 0) + 1;
    const found = this.#find(name.toLowerCase(), name, type);
    if (found === null) return null;
    const flags = AUTHORITATIVE_ANSWER | found.code | (truncate ? TRUNCATED : 0);
    const answers = truncate ? [] : found.answers;
    const id = query.id ?? 0;
    return encode({ type: 'response', id, flags, questions: [question], answers });
  }

  #find(name: string, asked: string, type: string): { code: number; answers: Answer[] } | null {
    const { cname = false, aaaa, override, ttlSeconds: ttl = 300 } = this.#options;
    const fixed = override?.(name) ?? null;
    const real = cname && name.startsWith('alias-') ? name.slice('alias-'.length) : name;
    const found = this.#world.resolve(real);
    if (fixed === null && found.kind === 'mute') return null;
    if (fixed === null && found.kind === 'servfail') return { code: SERVFAIL, answers: [] };
    if (fixed === null && found.kind === 'none') return { code: NXDOMAIN, answers: [] };
    const addresses = fixed ?? (found.kind === 'address' ? [found.address] : []);
    const aliased = cname && name === real && fixed === null;
    const owner = aliased ? `alias-${name}` : asked;
    const answers: Answer[] = aliased ? [{ type: 'CNAME', name: asked, ttl, data: owner }] : [];
    if (type === 'A') {
      for (const data of addresses) answers.push({ type: 'A', name: owner, ttl, data });
    } else if (type === 'AAAA' && aaaa !== undefined) {
      answers.push({ type: 'AAAA', name: owner, ttl, data: aaaa });
    }
    return { code: NOERROR, answers };
  }
}

function decodeQuery(message: Buffer): Packet | null {
  try {
    return decode(message);
  } catch {
    // Anybody may send anything to a UDP port; what is no query gets no answer.
    return null;
  }
}
