// The type of the one file of undici that is loaded (origin-client.ts): its package declares types for its index only. The version is pinned
// in package.json; another one may move the file, which the build would not notice and the first integration test would.

declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici';

  export = Client;
}
