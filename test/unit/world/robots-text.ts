// Reads back the robots.txt files the world writes, to show that the text and the structure say the same. It understands just those.
import type { RobotsGroup } from '../../support/world/robots-model.ts';

/** The groups of a file. */
export function parseRobotsText(text: string): RobotsGroup[] {
  const groups: {
    agents: string[];
    lines: RobotsGroup['lines'][number][];
    delay: number | null;
  }[] = [];
  let inAgents = false;
  for (const raw of text.replace(/^\ufeff/, '').split(/\r?\n/)) {
    const line = raw.replace(/#.*/, '').trim();
    const colon = line.indexOf(':');
    if (colon < 0) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'user-agent') {
      if (!inAgents) groups.push({ agents: [], lines: [], delay: null });
      groups.at(-1)?.agents.push(value.toLowerCase());
    }
    inAgents = name === 'user-agent';
    if (name === 'crawl-delay') groups.at(-1)!.delay = Number(value);
    if (name === 'allow' || name === 'disallow') {
      groups.at(-1)?.lines.push({ allow: name === 'allow', pattern: value });
    }
  }
  return groups.map(({ agents, lines, delay }) => ({ agents, lines, crawlDelaySeconds: delay }));
}
