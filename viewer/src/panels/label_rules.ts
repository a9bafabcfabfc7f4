// SPDX-License-Identifier: Apache-2.0
import type { Panel } from "../figure";
import { no_rows } from "../figure";
import { text_of } from "../report";
import { over } from "../view";
import { number_in } from "./shared_rows";

export const panel: Panel = {
  id: "label_rules",
  title: "Where labels come from",
  shows: "Which rule gave phase, layer and operation: annotations are certain, repetition is a guess.",
  reads: ["label_rules"],
  build(view) {
    const rows = view.rows("label_rules");
    if (rows.length === 0) return no_rows("label_rules", "GPU work has phase, layer or operation");
    const labels = view.distinct("label_rules", "label");
    const groups = labels.map((label) => {
      const weights = new Map<string, number>();
      for (const row of view.rows("label_rules", { label })) {
        const rule = text_of(row, "rule");
        weights.set(rule, (weights.get(rule) ?? 0) + number_in(row, "duration_ns"));
      }
      return { label, rules: [...weights.keys()].sort((a, b) => weights.get(b)! - weights.get(a)! || (a < b ? -1 : 1)) };
    });
    return {
      says: groups.flatMap(({ label, rules }, i) => [
        `${i === 0 ? "Labels come from: " : "; "}${label} mostly by ${rules[0]!.replaceAll("_", " ")} (`,
        over(
          view.sum("label_rules", "duration_ns", { label, rule: rules[0]! }),
          view.sum("label_rules", "duration_ns", { label }),
        ),
        i === groups.length - 1 ? ")." : ")",
      ]),
      how: `Sums over ${view.who} of label_rules.records and duration_ns; the share is of the label's duration.`,
      table: {
        columns: ["label", "rule", "records", "time", "share"],
        meters: [4],
        rows: groups.flatMap(({ label, rules }) =>
          rules.map((rule) => [
            label,
            rule.replaceAll("_", " "),
            view.sum("label_rules", "records", { label, rule }),
            view.sum("label_rules", "duration_ns", { label, rule }),
            over(view.sum("label_rules", "duration_ns", { label, rule }), view.sum("label_rules", "duration_ns", { label })),
          ]),
        ),
      },
      table_open: true,
    };
  },
};
