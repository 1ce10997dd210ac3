import { execFile } from "node:child_process";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { driver, freshFolder, goEnv, goFlags, made, needPackages, type Program } from "./languages.ts";

const run = promisify(execFile);

export type Server = {
  /** As the generator calls it. */
  name: string;
  compiles: boolean;
  build(): Promise<Program>;
};

const fastapi: Server = {
  name: "python-fastapi",
  compiles: false,
  async build() {
    const program = "/usr/bin/python3";
    const check = { program, args: ["-c", "import fastapi, uvicorn"] };
    await needPackages("python-fastapi", check, ["python3-fastapi", "python3-uvicorn"]);
    const built = await freshFolder("python-fastapi");
    await cp(join(made, "python-fastapi/webhooks/src"), built, { recursive: true });
    // The generated server takes what it finds in this folder.
    await cp(driver("python-fastapi", "receiver.py"), join(built, "openapi_server/impl/receiver.py"));
    const env = { PYTHONPATH: built, PYTHONDONTWRITEBYTECODE: "1" };
    return { program, args: ["-m", "openapi_server.impl.receiver"], env };
  },
};

const goServer: Server = {
  name: "go-server",
  compiles: true,
  async build() {
    const check = { program: "go", args: ["list", "github.com/gorilla/mux"], env: goEnv("/usr/share/gocode") };
    await needPackages("go-server", check, ["golang-go", "golang-github-gorilla-mux-dev"]);
    const built = await freshFolder("go-server");
    const source = join(built, "src/schultor");
    await cp(join(made, "go-server/webhooks/go"), join(source, "webhook-server"), { recursive: true });
    await cp(driver("go-server", "receiver.go"), join(source, "receiver/receiver.go"));
    // The generator imports this for parameters in paths, which webhooks have none of; Go refuses what is not used.
    const api = join(source, "webhook-server/api_events.go");
    await writeFile(api, (await readFile(api, "utf8")).replace('\t"github.com/gorilla/mux"\n', ""));
    const env = { ...process.env, ...goEnv(built, "/usr/share/gocode") };
    await run("go", ["build", ...goFlags, "-o", join(built, "receiver"), "schultor/receiver"], { env });
    return { program: join(built, "receiver"), args: [] };
  },
};

export const servers: Server[] = [fastapi, goServer];
