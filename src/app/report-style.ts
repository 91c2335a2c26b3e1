// The style sheet of the report's page (report-page.ts). Colours by name and scheme; contrast of text at least 4.5 to 1 in both (WCAG 2.1
// §1.4.3). Colour is never the only sign: every bar has its number and every verdict its word.

/** Goes into a style element. */
export const REPORT_STYLE = `
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--text:#1c2430;--soft:#5a6675;--line:#dde2e9;
--good:#2f6fdb;--quiet:#8693a5;--warn:#c07a12;--bad:#c23b3b;--kept:#1d7a46}
@media (prefers-color-scheme:dark){:root{--page:#12161c;--card:#1b212a;--text:#e4e9f0;--soft:#9aa7b8;--line:#313a47;
--good:#6c9ff2;--quiet:#77859a;--warn:#dd9f45;--bad:#ee7373;--kept:#62c48c}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.45 system-ui,sans-serif}
main{max-width:1040px;margin:0 auto;padding:24px 16px 48px}
h1{font-size:26px;margin:0}h2{font-size:16px;margin:0 0 8px}
p{margin:4px 0 12px;color:var(--soft)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:12px 0}
.tile,section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:14px 16px}
.tile b{display:block;font-size:24px;line-height:1.2;font-variant-numeric:tabular-nums}
.tile span{display:block}.tile small{color:var(--soft)}
section{margin:12px 0;break-inside:avoid}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:12px}
.pair section{margin:0}
table{border-collapse:collapse;width:100%}
th{font-weight:400;text-align:left;padding:3px 10px 3px 0;overflow-wrap:anywhere}
thead th{color:var(--soft);font-size:13px;white-space:nowrap}
thead th:nth-child(n+3){text-align:right;padding:3px 0 3px 12px}
.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums;padding-left:12px}
.wide{width:45%}.hosts .wide{width:30%;min-width:80px}
.scroll{overflow-x:auto}
.bar{display:block;width:100%;height:12px}
.good{fill:var(--good)}.quiet{fill:var(--quiet)}.warn{fill:var(--warn)}.bad{fill:var(--bad)}
.columns{display:block;width:100%;min-width:520px;height:auto}
.hosts tbody th{white-space:nowrap}
.columns .column{fill:var(--good)}.columns line{stroke:var(--line)}
.columns text{fill:var(--soft);font-size:12px}
.kept{color:var(--kept)}.broken{color:var(--bad);font-weight:600}
.rules{width:auto}.rules td{padding-left:16px}
ul{margin:0;padding-left:18px}
`;
