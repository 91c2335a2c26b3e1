// What the web's process says on stdout when it is ready: apart from serve.ts, which does its work when it is imported.

/** The first line of stdout. */
export interface ServeReady {
  readonly pid: number;
  readonly port: number;
  readonly dnsPort: number;
  /** The first ten seed URLs. */
  readonly seeds: readonly string[];
  /** A file with all of them, when one was asked for. */
  readonly seedsFile: string | null;
}
