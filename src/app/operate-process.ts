// Carries an operator's acts out on a crawling process (DESIGN.md §10): each becomes a message to the shard that owns the matter, so nothing
// is changed behind an actor's back. The caller writes every act to the operations log, done or refused.

import { isIP, SocketAddress } from 'node:net';
import type { HostOperation } from '../actors/messages.ts';
import { wallMs } from '../base/units.ts';
import { RETRY_AFTER_MAX_MS } from '../domain/politeness.ts';
import type { Operation, PauseTarget } from '../ops/operation.ts';
import { type Answer, answered, refused } from '../ops/operator.ts';
import type { OperatedCrawl } from './process-operator.ts';
import { placeOfHost } from './read-crawl.ts';
import { readSeed } from './seeds.ts';

/** URLs taken by one `inject`. */
const INJECT_MAX = 10_000;

/** What a crawl on one machine says to verbs that need another. */
const ONE_NODE = {
  move: 'this crawl runs on one node: there is none to move a partition to',
  drain:
    'this crawl runs on one node: there is none to hand its partitions to; `pause all` starts no more requests, SIGTERM ends it in order',
} as const;

export async function operateProcess(
  operated: OperatedCrawl,
  operation: Operation,
): Promise<Answer<{ readonly text: string }>> {
  switch (operation.kind) {
    case 'pause':
      return pause(operated, operation.target);
    case 'resume':
      return resume(operated, operation.target);
    case 'set-delay':
      toHost(operated, operation.host, { kind: 'set-gap', gapMs: operation.gapMs });
      return done(
        operation.gapMs === undefined
          ? `${operation.host} keeps its computed gap again`
          : `${operation.host} is asked at most every ${operation.gapMs} ms; its Crawl-delay still holds`,
      );
    case 'block': {
      const forMs = Math.min(
        Math.max(operation.untilMs - wallMs(Date.now()), 0),
        RETRY_AFTER_MAX_MS,
      );
      toHost(operated, operation.host, { kind: 'pause', forMs });
      return done(
        `${operation.host} is not asked for ${Math.round(forMs / 1_000)} s (a day at most)`,
      );
    }
    case 'inject':
      return inject(operated, operation.urls);
    case 'refresh-robots':
      toHost(operated, operation.host, { kind: 'refresh-robots' });
      return done(`robots.txt of ${operation.host} is fetched anew before its next page`);
    case 'flush-dns':
      toHost(operated, operation.host, { kind: 'flush-addresses' });
      return done(`${operation.host} is looked up anew before its next request`);
    case 'checkpoint':
      operated.crawl.commandAll({ kind: 'checkpoint' });
      return done('every shard hands over what it holds');
    case 'reload': {
      const read = await operated.reload();
      return done(read.join('; '));
    }
    case 'set-log-level':
      operated.setLogLevel(operation.level);
      return done(`log level ${operation.level}`);
    case 'move':
    case 'drain':
      return (
        operated.cluster?.operate(operation) ?? refused('unsupported', ONE_NODE[operation.kind])
      );
  }
}

function pause(operated: OperatedCrawl, target: PauseTarget): Answer<{ readonly text: string }> {
  switch (target.kind) {
    case 'all':
      operated.state.pauses.setAll(true);
      operated.crawl.commandAll({ kind: 'pause-all' });
      return done('no new request is started; those in flight end');
    case 'host':
      operated.state.pauses.pause(target.host, performance.now());
      toHost(operated, target.host, { kind: 'pause', forMs: RETRY_AFTER_MAX_MS });
      return done(`${target.host} is paused until resumed, a day at most`);
    case 'ip':
      return pauseAddress(operated, target.address, true);
  }
}

function resume(operated: OperatedCrawl, target: PauseTarget): Answer<{ readonly text: string }> {
  switch (target.kind) {
    case 'all':
      operated.state.pauses.setAll(false);
      operated.crawl.commandAll({ kind: 'resume-all' });
      return done('requests are started again');
    case 'host':
      operated.state.pauses.resume(target.host);
      toHost(operated, target.host, { kind: 'resume' });
      return done(`${target.host} may be asked again, in its gap`);
    case 'ip':
      return pauseAddress(operated, target.address, false);
  }
}

/** Hosts know their addresses as the resolver spells them, so the operator's spelling is brought to that form. */
function pauseAddress(
  operated: OperatedCrawl,
  text: string,
  isPaused: boolean,
): Answer<{ readonly text: string }> {
  const version = isIP(text);
  if (version === 0) return refused('usage', `${text} is no IP address`);
  const address = new SocketAddress({ address: text, family: version === 6 ? 'ipv6' : 'ipv4' });
  const { pauses } = operated.state;
  if (isPaused) pauses.pause(address.address, performance.now(), Number.POSITIVE_INFINITY);
  else pauses.resume(address.address);
  operated.crawl.commandAll({ kind: 'pause-address', address: address.address, isPaused });
  return done(
    isPaused
      ? `hosts at ${address.address} are asked nothing until \`resume ip\`; what is in flight ends`
      : `hosts at ${address.address} are asked again within 5 s, in their gaps`,
  );
}

function inject(
  operated: OperatedCrawl,
  texts: readonly string[],
): Answer<{ readonly text: string }> {
  const urls: { readonly url: string; readonly depth: number }[] = [];
  for (const text of texts.slice(0, INJECT_MAX)) {
    const seed = readSeed(text);
    if ('problem' in seed) return refused('usage', `${text} is ${seed.problem}`);
    urls.push({ url: seed.url, depth: 0 });
  }
  operated.crawl.inject(urls);
  return done(`${urls.length} URLs handed over; scope, robots and the seen set apply to them`);
}

function toHost(operated: OperatedCrawl, host: string, operation: HostOperation): void {
  const { hostKey, partition } = placeOfHost(operated.reading, host);
  operated.crawl.command(operated.shardOf(partition), {
    kind: 'operate-host',
    host: { host, hostKey, partition },
    operation,
  });
}

function done(text: string): Answer<{ readonly text: string }> {
  return answered({ text });
}
