/** Each word: Latin letters or a digit, and the letters that look like them. Source: UTS 39, confusables.txt. */
const lookAlikes = new Map(
  `
  2ꝚƧϨꙄᒿƻ 3ꞫȜƷꝪⳌЗӠҘ 4Ꮞ 5Ƽ 6ⳒбᏮ 8ȣȢ 9ꝮⳊ AΑАᎪᗅꓮ AAꜲ AEÆӔ AOꜴ AUꜶ AVꜸꜺ AYꜼ BꞴΒВᏴᗷꓐ CⲤСᏟꓚҪ DᎠᗞᗪꓓĐÐƉ EΕЕⴹᎬꓰɆ FꞘϜᖴꓝƑ
  GԌᏀᏳꓖǤ HΗⲎНᎻᕼꓧⱧҢĦӉӇ JꞲͿЈᎫᒍꓙɈ KΚⲔКᏦꓗⱩҚꝀҞ LⳐᏞᒪꓡŁ MΜϺⲘМᎷᗰꓟӍ NΝⲚꓠƝ OΟⲞОՕⵔꓳØⵁƟꝊθΘӨѲⴱᎾᏫ OEŒ OOꝎꚘ PΡⲢРᏢᑭꓑ Qⵕ RƦᎡᏒᖇꓣ
  SЅՏᏕᏚꓢ TΤⲦТᎢꓔȾƮҬŦ T3Ꜩ UՍᑌꓴɄᏌ VѴⴸᏙᐯꓦ WԜᎳᏔꓪ XꞳΧⲬХⵝꓫҲ YΥⲨУҮᎩᎽꓬɎҰ ZΖᏃꓜƵȤ aɑαа aaꜳ aeæӕ aoꜵ auꜷ avꜹꜻ ayꜽ
  bƄЬᏏᑲᖯɓᑳƃƂБƀҍҌѣѢ blЫ cᴄⲥсꮯȼҫ dԁᏧᑯꓒɗɖƌđ dzʣ eꬲеҽɇҿ fꬵꞙẝքƒᵮ gɡᶃƍցɠǥ hһհᏂɦꚕᏲħћ iıɪɩιіꙇӏꭵᎥɨᵻᵼ jϳјɉ kƙ
  lƖǀΙⲒІӀⵏꓲłɭƗƚɫ lOЮ llǁ lsʪ lzʫ nոռɳƞηᵰ oᴏᴑꬽοσⲟоჿօøꬾɵꝋөѳꮎꮻꭴ oeœ ooꝏꚙ pρⲣрƥᵽ qԛգզʠ rꭇꭈᴦⲅгꮁɽɼɍғᵲ rnɱᵯ sꜱƽѕꮪʂᵴ
  tƭŧᵵ tfꝷ tsʦ uꞟᴜꭎꭒʋυսᵾꮜ ueᵫ uoꭣ vᴠνѵꮩ wɯᴡѡԝաꮃѽꝡ xхᕁᕽ yɣᶌʏỿꭚγуүყƴɏұ bв hнʜ kкκĸᴋ mмᴍ tтτᴛ zᴢꮓʐƶȥᵶ
`
    .trim()
    .split(/\s+/)
    .flatMap((word) => {
      const [, latin, others] = /^([A-Za-z0-9]+)(.*)$/su.exec(word)!;
      return Array.from(others!, (letter): [string, string] => [letter, latin!]);
    }),
);

const marks = /(?<![aou](?=\u0308))\p{M}/giu;

const toLatin = (text: string): string =>
  Array.from(text.normalize("NFKD").replace(marks, ""), (letter) => lookAlikes.get(letter) ?? letter).join("");

/** Returns equal texts for names that look alike, also with letters of different alphabets. */
export const skeletonOf = (name: string): string =>
  toLatin(toLatin(name).toLowerCase())
    .replace(/[^\p{L}\p{N}\u0308]/gu, "")
    .replace(/[i1]/g, "l")
    .replaceAll("0", "o")
    .replaceAll("rn", "m")
    .replaceAll("vv", "w");

const alphabets = (
  "Latin Greek Cyrillic Armenian Hebrew Arabic Georgian Ethiopic Cherokee Coptic Lisu Tifinagh Canadian_Aboriginal " +
  "Syriac Thaana Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Thai Lao Tibetan " +
  "Myanmar Khmer Mongolian"
)
  .split(" ")
  .map((script) => new RegExp(`\\p{Script=${script}}`, "u"));
const readsAsLatin = /^[\p{N}ΑΒΕΖΗΙΚΜΝΟΡΤΥΧονАВЕЅІЈКМНОРСТУХаеорсухіјѕһԁԛԝ\p{Script=Cherokee}\p{Script=Lisu}]*$/u;
const isLatin = (text: string): boolean => /\p{Script=Latin}/u.test(text);

/** Finds a word of mixed alphabets, or one that reads as Latin beside Latin words. CJK texts may use Latin letters. */
export function findMixedWord(text: string): string | null {
  const words = text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const mixed = words.find((word) => alphabets.filter((alphabet) => alphabet.test(word)).length > 1);
  if (mixed !== undefined || !words.some(isLatin)) return mixed ?? null;
  return words.find((word) => /\p{L}/u.test(word) && !isLatin(word) && readsAsLatin.test(word)) ?? null;
}

export function foldText(text: string): string {
  return text.normalize("NFKC").toLowerCase().normalize("NFKC").trim();
}
