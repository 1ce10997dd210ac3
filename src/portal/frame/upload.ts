import type { Readable } from "node:stream";
import busboy from "busboy";
import type { Request } from "express";
import { refuseField } from "./calls.ts";

/** Must be read to the end or destroyed. */
export type Upload = { stream: Readable; fileName: string };

/**
 * Reads a form up to its first file, so the fields must precede it; null if no file was chosen.
 *
 * Errors: status 400 for an unreadable form, and on the stream for a file that ends too early.
 */
export function readUpload(req: Request): Promise<{ fields: Record<string, string[]>; upload: Upload | null }> {
  return new Promise((resolve, reject) => {
    // Without a prototype, because a field may have the name of an inherited property.
    const fields = Object.create(null) as Record<string, string[]>;
    const refuse = (error: unknown) => reject(Object.assign(new Error("not a form"), { status: 400, cause: error }));
    try {
      const form = busboy({
        headers: req.headers,
        defParamCharset: "utf8",
        limits: { files: 1, fields: 50, fieldSize: 65_536 },
      });
      form.on("field", (name, value) => void (fields[name] ??= []).push(value));
      form.on("file", (_name, stream, { filename }) => {
        // Without a listener, an unread file that ends too early would end the process.
        stream.on("error", (error) => Object.assign(error, { status: 400 }));
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

const largestImage = 262_144;

/** Reads an image as the body of a call. Errors: Refused logo_missing, logo_too_large. */
export async function readImageUpload({ upload }: { upload: Upload | null }): Promise<Buffer> {
  if (upload === null) throw refuseField("logo", "logo_missing");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of upload.stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > largestImage) throw refuseField("logo", "logo_too_large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
