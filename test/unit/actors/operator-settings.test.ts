import { ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { HostAddresses } from '../../../src/actors/host-addresses.ts';
import { HostPace } from '../../../src/actors/host-pace.ts';
import { HostRobots } from '../../../src/actors/host-robots.ts';
import type { HostOperation } from '../../../src/actors/messages.ts';
import { OperatorSettings } from '../../../src/actors/operator-settings.ts';
import { hostKey, monotonicMs, partitionIndex } from '../../../src/base/units.ts';

const POLICY = { minGapMs: 1_000, maxCrawlDelayMs: 30_000, latencyFactor: 0 };
const NOW = monotonicMs(50_000);

function host(settings: OperatorSettings, name: string) {
  const pace = HostPace.fresh(POLICY);
  settings.apply(name, pace);
  const operate = (operation: HostOperation): void =>
    settings.operate(
      operation,
      {
        id: { host: name, hostKey: hostKey(1n), partition: partitionIndex(0) },
        pace,
        robots: new HostRobots({ productToken: 'hostler', robotsBytesMax: 512_000 }, []),
        addresses: new HostAddresses(),
      },
      NOW,
    );
  return { pace, operate };
}

test('OperatorSettings.apply gives a host that wakes up again the gap and the block that were set', () => {
  const settings = new OperatorSettings();
  const before = host(settings, 'a.test');
  before.operate({ kind: 'set-gap', gapMs: 7_000 });
  before.operate({ kind: 'pause', forMs: 9_000 });
  strictEqual(before.pace.gapMs(), 7_000);
  const after = host(settings, 'a.test');
  strictEqual(after.pace.gapMs(), 7_000);
  strictEqual(after.pace.nextFetchMs(), 59_000);
  after.operate({ kind: 'resume' });
  after.operate({ kind: 'set-gap', gapMs: undefined });
  const last = host(settings, 'a.test');
  strictEqual(last.pace.gapMs(), 1_000);
  ok(last.pace.nextFetchMs() <= NOW);
  strictEqual(host(settings, 'b.test').pace.gapMs(), 1_000);
});

test('OperatorSettings.addressPausedUntil holds a host that has a paused address among its own', () => {
  const settings = new OperatorSettings();
  settings.pauseAddress('192.0.2.7', true);
  const until = settings.addressPausedUntil(['192.0.2.1', '192.0.2.7'], NOW);
  ok(until !== undefined && until > NOW);
  strictEqual(settings.addressPausedUntil(['192.0.2.1'], NOW), undefined);
  settings.pauseAddress('192.0.2.7', false);
  strictEqual(settings.addressPausedUntil(['192.0.2.7'], NOW), undefined);
});
