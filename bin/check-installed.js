// Runs before `npm start` and `npm test`, on whichever Node there is: says what is missing before a file fails to load.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const isInstalled = existsSync(fileURLToPath(new URL("../node_modules/express/package.json", import.meta.url)));
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const isOld = major < 24 || (major === 24 && minor < 7);

if (!isInstalled) {
  console.error("The packages are not installed. Run `npm ci`, which brings Node 24 and PostgreSQL too.");
  process.exitCode = 1;
} else if (isOld) {
  console.error(`Node 24.7 or later is needed, and this is ${process.version}. Run \`npm ci\` again, which brings it.`);
  process.exitCode = 1;
}
