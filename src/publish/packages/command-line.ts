import { packForNpm, type Origin } from "./pack.ts";
import { readProgram } from "./read-program.ts";

const entry = "src/schultor-partner.ts";

/** What the commands for partners may import; the rest of the service stays out. */
const included =
  /^package\.json$|^generated\/openapi\/admin-commands\.json$|^clients\/tools\/|^src\/(cli\/(?!local\/)|platform\/(advice|text)\/|platform\/(errors|clock|contract-types|crypto\/public-key)\.|(access\/(client-authentication|token)|config\/remote|schultor-partner)\.)/;

/** Packs the command line for partners with what it needs: it runs on Node 20 without an installation. */
export async function packCommandLine(origin: Origin): Promise<Buffer> {
  const { files, packages } = readProgram({ entries: [entry], isIncluded: (path) => included.test(path) });
  files.set("bin/schultor.js", `#!/usr/bin/env node\nimport "../${entry.replace(/\.ts$/, ".js")}";\n`);
  return packForNpm(origin, { folder: "clients/tools", files, packages });
}
