import type { Row } from "../read/table.ts";
import { foldWord } from "./words.ts";

/** Words of sums, and those of footers, which a colon, a date or a number follows. */
const sum =
  /^(zwischen|gesamt|end)?summen?$|^(gesamt(zahl|anzahl)?|insgesamt|anzahl|total|subtotal|grandtotal|sum|count)$/;
const footer =
  /^(stand|seite|blatt|page|datum|date|druckdatum|gedruckt(am)?|erstellt(am|von)?|exportiert(am)?|printed(on)?|hinweis|legende)$/;

const firstWords = (cell: string): string => foldWord(/^[^\d:]*/.exec(cell)![0]);
const isSum = (cell: string): boolean => {
  const [word = ""] = cell.split(/[\s:\d]/, 1);
  return sum.test(foldWord(word));
};
const isFooter = (cell: string): boolean => /[:\d]/.test(cell) && footer.test(firstWords(cell));
const hasLetter = (text: string): boolean => /\p{L}/u.test(text);

const hasWholeName = (row: Row): boolean => {
  if (!row.has("full_name")) return hasLetter(row.get("first_name")) && hasLetter(row.get("last_name"));
  const name = row.get("full_name");
  return /[\s,]/.test(name) && hasLetter(name) && !isSum(name) && !isFooter(name);
};

const isHeading = (cells: readonly string[], headings: readonly string[]): boolean => {
  const words = headings.map(foldWord);
  return cells.every((cell, index) => cell === "" || foldWord(cell) === words[index]);
};

/**
 * Whether a row of a table is no person: headings once more, a sum, a footer, or a value alone. A row with a name and
 * an id is a person in any case.
 */
export function isNoPerson(row: Row, headings: readonly string[], idColumn: "id" | "birth_date"): boolean {
  const filled = row.cells.filter((cell) => cell !== "");
  if (isHeading(row.cells, headings)) return true;
  const hasId = row.get(idColumn) !== "";
  if (hasWholeName(row)) return !hasId && filled.some((cell) => isSum(cell) || isFooter(cell));
  if (filled.length === 1 || filled.some((cell) => isSum(cell) || isFooter(cell))) return true;
  const name = ["first_name", "last_name", "full_name"].map(row.get).join("");
  if (hasLetter(name)) return false;
  if (!hasId) return row.get("role") === "";
  return name !== "" && !filled.some(hasLetter);
}
