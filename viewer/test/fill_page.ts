// SPDX-License-Identifier: Apache-2.0
// Puts a report into the built page, as src/report/html.cpp does.
export function fill_page(template: string, report_text: string, facts: object): string {
  const embed = (id: string, text: string): string =>
    `<script type="application/json" id="${id}">${text.replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")}</script>`;
  const [before, after] = template.split("@DATA@");
  return `${before}${embed("page-facts", JSON.stringify(facts))}\n${embed("report", report_text)}${after}`;
}
