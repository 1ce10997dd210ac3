import type { ServerResponse } from "node:http";

const style = `
body { font: 1.1rem/1.6 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 2rem 1rem; }
body { color: #14213d; background: #fff8ec; }
a.button { display: inline-block; background: #9a3412; color: #fff; padding: .7rem 1.4rem; border-radius: .6rem; }
a.button { text-decoration: none; }
table { border-collapse: collapse; width: 100%; background: #fff; }
th, td { text-align: left; padding: .4rem .8rem; border: 1px solid #e5d5bb; overflow-wrap: anywhere; }
th { width: 12rem; }
pre { background: #fff; border: 1px solid #e5d5bb; padding: 1rem; overflow-x: auto; font-size: .9rem; }`;

const policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";

function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** The pages of the demo app called `name`. */
export function makePages(name: string) {
  const appName = escapeHtml(name);

  function sendPage(res: ServerResponse, status: number, title: string, body: string): void {
    res.writeHead(status, {
      "Content-Type": "text/html; charset=utf-8",
      "Cache-Control": "no-store",
      "Content-Security-Policy": policy,
    });
    res.end(
      `<!doctype html><html lang="en"><head><meta charset="utf-8">` +
        `<meta name="viewport" content="width=device-width, initial-scale=1">` +
        `<title>${title} · ${appName}</title><style>${style}</style></head>` +
        `<body><main><h1>${title}</h1>${body}</main></body></html>`,
    );
  }

  return {
    showStart(res: ServerResponse, issuerUrl: string): void {
      const about = `A small partner app of the demo world. It signs you in with ${escapeHtml(issuerUrl)}.`;
      sendPage(res, 200, appName, `<p>${about}</p><p><a class="button" href="/login">Sign in</a></p>`);
    },

    showResult(res: ServerResponse, claims: Record<string, unknown>, reads: { path: string; body: unknown }[]): void {
      const text = (value: unknown) => escapeHtml(typeof value === "string" ? value : JSON.stringify(value));
      const rows = Object.entries(claims).map(
        ([claim, value]) => `<tr><th scope="row">${escapeHtml(claim)}</th><td>${text(value)}</td></tr>`,
      );
      const answers = reads.map(
        ({ path, body }) => `<h2>GET ${path}</h2><pre tabindex="0">${escapeHtml(JSON.stringify(body, null, 2))}</pre>`,
      );
      const about = `${appName} has checked the ID token and read what the service shares with it.`;
      const table = `<h2>ID token</h2><table>${rows.join("")}</table>`;
      const signOut = `<p><a class="button" href="/logout">Sign out</a></p>`;
      sendPage(res, 200, "You are signed in", `<p>${about}</p>${signOut}${table}${answers.join("")}`);
    },

    showFailure(res: ServerResponse, status: number, message: string): void {
      const again = `<p><a class="button" href="/login">Try again</a></p>`;
      if (res.headersSent) res.destroy();
      else sendPage(res, status, "That did not work", `<p>${escapeHtml(message)}</p>${again}`);
    },
  };
}
