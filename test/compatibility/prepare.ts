import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { clients } from "./clients.ts";

const here = import.meta.dirname;
const folder = join(here, "../../.cache/compatibility");
const marker = join(folder, "node_modules/.installed");

mkdirSync(folder, { recursive: true });
for (const name of ["package.json", "package-lock.json"]) cpSync(join(here, name), join(folder, name));
rmSync(join(folder, "programs"), { recursive: true, force: true });
cpSync(join(here, "programs"), join(folder, "programs"), { recursive: true });

// Once for each lock file.
const hash = createHash("sha256")
  .update(readFileSync(join(here, "package-lock.json")))
  .digest("hex");
if (!existsSync(marker) || readFileSync(marker, "utf8") !== hash) {
  const quiet = ["--no-audit", "--no-fund", "--no-progress"];
  execFileSync("npm", ["ci", "--ignore-scripts", "--legacy-peer-deps", ...quiet], { cwd: folder, stdio: "inherit" });
  writeFileSync(marker, hash);
}

const pages = clients.filter(({ isBrowser }) => isBrowser);
await build({
  root: folder,
  configFile: false,
  logLevel: "warn",
  build: {
    outDir: "bundles",
    target: "esnext",
    minify: false,
    // Programs have no exports, and each is a file that needs no other.
    rollupOptions: {
      input: Object.fromEntries(pages.map(({ program }) => [program, join(folder, "programs", `${program}.js`)])),
      output: { entryFileNames: "[name].js" },
    },
  },
});
