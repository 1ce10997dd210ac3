import { createServer, type AddressInfo, type Socket } from "node:net";
import { atFileEnd } from "./file-end.ts";

export type Mail = { from: string; to: string[]; content: string };

/** Takes mail over SMTP (RFC 5321) on a free port, and keeps it; refuses the recipients of `refused`. */
export async function startMailServer() {
  const mails: Mail[] = [];
  const refused = new Set<string>();
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on("close", () => open.delete(socket)).on("error", () => undefined));
    let [mail, input, isContent] = [makeMail(), "", false];
    const answer = (line: string): void => {
      const [, verb = "", address = ""] = /^(\w+)[^<]*(?:<([^>]*)>)?/.exec(line) ?? [];
      if (verb === "MAIL") mail = { ...makeMail(), from: address };
      if (verb === "RCPT" && !refused.has(address)) mail.to.push(address);
      isContent = verb === "DATA";
      socket.write(verb === "DATA" ? "354 go on\r\n" : refused.has(address) ? "550 no\r\n" : "250 ok\r\n");
    };
    socket.write("220 mail\r\n");
    socket.on("data", (chunk) => {
      input += chunk.toString();
      for (let end = endOf(input, isContent); end !== null; end = endOf(input, isContent)) {
        const part = input.slice(0, end.at);
        input = input.slice(end.next);
        if (!isContent) answer(part);
        else {
          mails.push({ ...mail, content: part });
          isContent = false;
          socket.write("250 taken\r\n");
        }
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atFileEnd(() => {
    for (const socket of open) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, mails, refused };
}

const makeMail = (): Mail => ({ from: "", to: [], content: "" });

function endOf(input: string, isContent: boolean): { at: number; next: number } | null {
  const mark = isContent ? "\r\n.\r\n" : "\r\n";
  const at = input.indexOf(mark);
  return at < 0 ? null : { at, next: at + mark.length };
}

/** The text of a mail as people read it: RFC 2047 words in its head, quoted-printable or base64 in its body. */
export function readMail({ content }: Mail): { subject: string; text: string } {
  const cut = content.indexOf("\r\n\r\n");
  const head = content.slice(0, cut).replaceAll(/\r\n[ \t]+/g, " ");
  const body = content.slice(cut + 4);
  const fieldOf = (name: string) => new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1] ?? "";
  const unquote = (text: string) =>
    Buffer.from(
      text
        .replaceAll(/=\r\n/g, "")
        .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
      "latin1",
    ).toString();
  const word = (_: string, way: string, text: string) =>
    way.toUpperCase() === "B" ? Buffer.from(text, "base64").toString() : unquote(text.replaceAll("_", " "));
  const subject = fieldOf("Subject")
    .replaceAll(/\?=\s+=\?/g, "?==?")
    .replaceAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, word);
  const encoding = fieldOf("Content-Transfer-Encoding");
  if (encoding === "base64") return { subject, text: Buffer.from(body, "base64").toString() };
  return { subject, text: encoding === "quoted-printable" ? unquote(body) : body };
}
