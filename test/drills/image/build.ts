import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "../../..");

/** Runs a program to its end. Shape: what it printed, without white space around it. */
export async function type(program: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, BUILDAH_ISOLATION: "chroot" };
  const { stdout } = await promisify(execFile)(program, args, { cwd: root, env, maxBuffer: 1e8 });
  return stdout.trim();
}

/** Images in a store of their own, so that those of the machine stay as they are. */
export const makeBuildah =
  (folder: string) =>
  (...args: string[]): Promise<string> =>
    type("buildah", "--root", join(folder, "images"), "--runroot", join(folder, "run"), ...args);

export type Buildah = ReturnType<typeof makeBuildah>;

const unneeded = ["usr/share/doc", "usr/share/man", "usr/share/info", "usr/share/locale", "var/lib/apt/lists"];

async function commit(buildah: Buildah, from: string, name: string, fill: (folder: string) => Promise<void>) {
  const container = await buildah("from", "--pull-never", from);
  await fill(await buildah("mount", container));
  await buildah("umount", container);
  await buildah("commit", "--rm", container, name);
}

/** The npm that runs this program. */
function npmFolder(): string {
  const program = process.env["npm_execpath"];
  if (program === undefined) throw new Error("start this with npm run");
  return join(program, "../..");
}

/** Makes the two images that the Containerfile starts from: of Debian's packages, and of the Node of this checkout. */
export async function makeBases(buildah: Buildah): Promise<void> {
  const mirror = (await type("apt-get", "indextargets", "--format", "$(REPO_URI)")).split("\n")[0]!;
  await commit(buildah, "scratch", "docker.io/library/debian:bookworm-slim", async (folder) => {
    await type("debootstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", folder, mirror);
    for (const path of [...unneeded, "var/cache/apt"]) {
      rmSync(join(folder, path), { recursive: true });
      mkdirSync(join(folder, path));
    }
  });
  await commit(
    buildah,
    "docker.io/library/debian:bookworm-slim",
    "docker.io/library/node:24-bookworm-slim",
    async (folder) => {
      const [programs, modules] = [join(folder, "usr/local/bin"), join(folder, "usr/local/lib/node_modules")];
      cpSync(process.execPath, join(programs, "node"));
      cpSync(npmFolder(), join(modules, "npm"), { recursive: true, dereference: true });
      symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(programs, "npm"));
    },
  );
}

/** How this machine reaches the registry of packages, for the time of the build only. */
function makeSettings(folder: string): string[] {
  const own = join(homedir(), ".npmrc");
  const certificates = process.env["NODE_EXTRA_CA_CERTS"];
  const lines = [
    ...(existsSync(own) ? [readFileSync(own, "utf8")] : []),
    ...(certificates === undefined ? [] : [`cafile=${certificates}`]),
  ];
  const settings = join(folder, "npmrc");
  writeFileSync(settings, lines.map((line) => `${line}\n`).join(""));
  const mounts = [`${settings}:/root/.npmrc:ro`];
  if (certificates !== undefined) mounts.push(`${certificates}:${certificates}:ro`);
  return mounts.flatMap((mount) => ["--volume", mount]);
}

/** Builds the Containerfile as it is. Units: answers the bytes of its files. */
export async function build(buildah: Buildah, { folder, pull }: { folder: string; pull: boolean }): Promise<number> {
  await buildah(
    ...["bud", pull ? "--pull" : "--pull-never", "--format", "docker", "--isolation", "chroot"],
    ...makeSettings(folder),
    ...[
      "--ignorefile",
      "deploy/Containerfile.dockerignore",
      "--file",
      "deploy/Containerfile",
      "--tag",
      "schultor",
      ".",
    ],
  );
  return withFiles(buildah, async (files) => {
    const [bytes] = (await type("du", "--summarize", "--bytes", files)).split("\t");
    return Number(bytes);
  });
}

/** Works with the files of the image. */
export async function withFiles<T>(buildah: Buildah, work: (files: string) => Promise<T>): Promise<T> {
  const container = await buildah("from", "--pull-never", "schultor");
  try {
    return await work(await buildah("mount", container));
  } finally {
    await buildah("umount", container);
    await buildah("rm", container);
  }
}
