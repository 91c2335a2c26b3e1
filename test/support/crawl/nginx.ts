// A real web server for a real input: nginx serving folders of this machine, one host name each, as a child of the test.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const READY_MS_MAX = 5_000;

export class Nginx {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(port: number, child: ChildProcess, folder: string) {
    this.port = port;
    this.#child = child;
    this.#folder = folder;
  }

  /**
   * Serves each folder under its host name, on all of 127.0.0.0/8.
   * @param roots folder by host name
   */
  static async start(roots: Readonly<Record<string, string>>): Promise<Nginx> {
    const folder = mkdtempSync(join(tmpdir(), 'nginx-'));
    const port = await freePort();
    writeFileSync(join(folder, 'nginx.conf'), configuration(roots, port));
    const child = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'error.log'], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const nginx = new Nginx(port, child, folder);
    const endAt = performance.now() + READY_MS_MAX;
    while (!(await answers(port))) {
      if (performance.now() < endAt && child.exitCode === null) continue;
      await nginx.stop();
      throw new Error('nginx did not start');
    }
    return nginx;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null) {
      const ended = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function configuration(roots: Readonly<Record<string, string>>, port: number): string {
  const servers = Object.entries(roots).map(
    ([host, root]) =>
      `server { listen ${port}; server_name ${host}; root ${root}; index index.html; }`,
  );
  return `daemon off; master_process off; pid nginx.pid; events { worker_connections 512; }
http {
  access_log off; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3;
  uwsgi_temp_path t4; scgi_temp_path t5; keepalive_requests 100000; absolute_redirect off;
  types { text/html html; text/css css; text/javascript js; text/plain txt; image/png png; }
  default_type application/octet-stream;
  ${servers.join('\n  ')}
}
`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** True when something listens; tried for 50 ms. */
async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isOpen = await Promise.race([
    once(socket, 'connect').then(
      () => true,
      () => false,
    ),
    new Promise<boolean>((resolve) => setTimeout(resolve, 50, false)),
  ]);
  socket.destroy();
  if (!isOpen) await new Promise((resolve) => setTimeout(resolve, 50));
  return isOpen;
}
