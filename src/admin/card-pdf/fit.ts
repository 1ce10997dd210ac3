import { breakLongWords } from "../../platform/text/tagged-pdf.ts";

/** Measures a text. Units: points, for a font of one point. */
export type Measure = (text: string) => number;

type Fitted = { size: number; lines: string[] };

export const lineHeight = 1.25;
const step = 0.5;
const smallest = 4;

/** Chooses the largest size at which a text fits its box, also one of several lines; a longer text ends with "…". */
export function fitText(whole: string, box: { width: number; height: number; size: number }, measure: Measure): Fitted {
  const { width, height } = box;
  const text = breakLongWords(whole, width / smallest, measure);
  for (let size = box.size; size > smallest; size -= step) {
    // A word is broken only where nothing else helps.
    const lines = wrap(text, width / size, measure, size <= box.size / 2);
    if (lines !== null && lines.length * size * lineHeight <= height) return { size, lines };
  }
  const lines = wrap(text, width / smallest, measure, true)!;
  const most = Math.max(1, Math.floor(height / (smallest * lineHeight)));
  if (lines.length <= most) return { size: smallest, lines };
  const shortened = lines.slice(0, most);
  const last = Array.from(new Intl.Segmenter().segment(shortened.pop()!), ({ segment }) => segment);
  while (last.length > 0 && measure(`${last.join("")}…`) > width / smallest) last.pop();
  return { size: smallest, lines: [...shortened, `${last.join("")}…`] };
}

function wrap(text: string, width: number, measure: Measure, breaksWords: boolean): string[] | null {
  const paragraphs = text.split("\n").map((paragraph) => wrapParagraph(paragraph, width, measure, breaksWords));
  return paragraphs.every((lines) => lines !== null) ? paragraphs.flat() : null;
}

function wrapParagraph(text: string, width: number, measure: Measure, breaksWords: boolean): string[] | null {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (measure(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== "") lines.push(line);
    line = word;
    while (measure(line) > width) {
      if (!breaksWords) return null;
      const end = longestPart(line, width, measure);
      lines.push(line.slice(0, end));
      line = line.slice(end);
    }
  }
  return line === "" && lines.length > 0 ? lines : [...lines, line];
}

/** The part of a word that fits: at least one whole character. */
function longestPart(word: string, width: number, measure: Measure): number {
  let end = 0;
  for (const { segment } of new Intl.Segmenter().segment(word)) {
    if (end > 0 && measure(word.slice(0, end + segment.length)) > width) break;
    end += segment.length;
  }
  return end;
}
