import type { Readable } from "node:stream";
import busboy from "busboy";
import type { Request } from "express";

/** A file that is uploaded with a form: read it to its end, or destroy it. */
export type Upload = { stream: Readable; fileName: string };

/**
 * Reads an uploaded form up to its first file.
 *
 * Shape:  the fields of the form must stand before its file; null where no file was chosen.
 * Errors: a form that cannot be read throws with status 400.
 */
export function readUpload(req: Request): Promise<{ fields: Record<string, string[]>; upload: Upload | null }> {
  return new Promise((resolve, reject) => {
    const fields: Record<string, string[]> = {};
    const refuse = (error: unknown) => reject(Object.assign(new Error("not a form"), { status: 400, cause: error }));
    try {
      const form = busboy({
        headers: req.headers,
        defParamCharset: "utf8",
        limits: { files: 1, fields: 50, fieldSize: 65_536 },
      });
      form.on("field", (name, value) => void (fields[name] ??= []).push(value));
      form.on("file", (_name, stream, { filename }) => {
        if (filename) return resolve({ fields, upload: { stream, fileName: filename } });
        stream.resume();
      });
      form.on("close", () => resolve({ fields, upload: null }));
      form.on("error", refuse);
      req.once("aborted", () => form.destroy(new Error("aborted")));
      req.pipe(form);
    } catch (error) {
      refuse(error);
    }
  });
}
