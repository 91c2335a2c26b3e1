// What is used of playwright-core, as types of our own: the package is an optional dependency, and this program compiles and runs without it
// (docs/RENDERING.md). The names and meanings are those of its documentation, https://playwright.dev/docs/api/class-playwright.

export interface BrowserRequest {
  url(): string;
  method(): string;
  /** `document`, `script`, `stylesheet`, `image`, `xhr`, `fetch` …, as Chromium sees it. */
  resourceType(): string;
  isNavigationRequest(): boolean;
  headers(): Record<string, string>;
  frame(): BrowserFrame;
}

export interface BrowserFrame {
  parentFrame(): BrowserFrame | null;
}

export interface BrowserRoute {
  request(): BrowserRequest;
  fulfill(answer: {
    readonly status: number;
    readonly headers: Record<string, string>;
    readonly body: Buffer | string;
  }): Promise<void>;
  abort(errorCode?: string): Promise<void>;
}

export interface BrowserSession {
  send(method: string, parameters?: Record<string, unknown>): Promise<unknown>;
}

export interface BrowserPage {
  goto(url: string, options: { readonly waitUntil: 'commit'; timeout: number }): Promise<unknown>;
  on(event: 'load' | 'crash', then: () => void): void;
  on(event: 'dialog', then: (dialog: { dismiss(): Promise<void> }) => void): void;
  on(event: 'download', then: (download: { cancel(): Promise<void> }) => void): void;
  close(): Promise<void>;
}

export interface BrowserContext {
  newPage(): Promise<BrowserPage>;
  newCDPSession(page: BrowserPage): Promise<BrowserSession>;
  route(pattern: string, handler: (route: BrowserRoute) => Promise<void>): Promise<void>;
  routeWebSocket(
    pattern: RegExp,
    handler: (socket: { close(): Promise<void> }) => void,
  ): Promise<void>;
  on(event: 'page', then: (page: BrowserPage) => void): void;
  close(): Promise<void>;
}

export interface Browser {
  newContext(options: Record<string, unknown>): Promise<BrowserContext>;
  on(event: 'disconnected', then: () => void): void;
  isConnected(): boolean;
  close(): Promise<void>;
}

export interface BrowserType {
  launch(options: {
    readonly executablePath: string;
    readonly headless: boolean;
    readonly args: readonly string[];
    readonly timeout: number;
    readonly handleSIGINT: boolean;
    readonly handleSIGTERM: boolean;
    readonly handleSIGHUP: boolean;
  }): Promise<Browser>;
}
