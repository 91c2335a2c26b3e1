import { readFileSync } from 'node:fs';
export async function readSeeds(
  args: readonly string[],
  file: string | undefined,
): Promise<string[]> {
  return [
    ...args,
    ...(file === undefined
      ? []
      : readFileSync(file, 'utf8')
          .split('\n')
          .filter((l) => l !== '')),
  ];
}
