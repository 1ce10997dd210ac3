import { open, rm } from "node:fs/promises";

/** The body of a response that is too large for the memory: a file that is sent in pieces. */
export class TemporaryFile {
  readonly path: string;
  constructor(path: string) {
    this.path = path;
  }
  /** Opens the file for one reader. From then on it has no name, so that nothing is left of it. */
  async take(): Promise<{ size: number; pieces: AsyncIterable<Buffer> }> {
    const file = await open(this.path);
    await this.remove();
    return { size: (await file.stat()).size, pieces: file.createReadStream() };
  }
  async remove(): Promise<void> {
    await rm(this.path, { force: true });
  }
}
