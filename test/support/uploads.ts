import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";

const own = new RegExp(`^schultor-upload-\\w+-${process.pid}-`);

/** The temporary files of this process. Other processes of tests receive uploads at the same time. */
export const listUploads = async (): Promise<string[]> => (await readdir(tmpdir())).filter((name) => own.test(name));
