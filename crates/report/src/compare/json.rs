//! A comparison as one line of JSON; `docs/json-schema-compare.json` describes it.

use teetotal_program::ir::printer;

use super::{Answer, Row, SideBySide};
use crate::json::Json;
use crate::record::{self, FORMAT};
use crate::words;

impl SideBySide<'_> {
    /// Renders the comparison as one line of JSON, with its line feed.
    #[must_use]
    pub fn json(&self) -> String {
        let program = self.program;
        let rows = self.rows();
        let condition = program.condition.as_ref();
        let listed = |failed: bool| {
            Json::List(rows.iter().filter(|row| row.failed == failed).map(|row| self.json_of(row)).collect())
        };
        let members = vec![
            ("format", Json::number(FORMAT)),
            ("file", words::file(program).map_or(Json::Null, Json::text)),
            ("test", Json::text(&program.name)),
            ("condition", condition.map_or(Json::Null, |condition| Json::text(printer::condition(program, condition)))),
            ("models", Json::List(self.reports.iter().map(|report| report.json_of_search()).collect())),
            ("states", listed(false)),
            ("failures", listed(true)),
        ];
        format!("{}\n", Json::Object(members))
    }

    fn json_of(&self, row: &Row<'_>) -> Json {
        let answers = self.answers(row);
        let names = |wanted: Answer| {
            let given = self.reports.iter().zip(&answers).filter(move |&(_, &answer)| answer == wanted);
            Json::List(given.map(|(report, _)| Json::text(report.outcome.model.info().name)).collect())
        };
        let mut members = vec![
            (if row.failed { "failure" } else { "state" }, Json::text(&row.text)),
            ("wanted", Json::Bool(row.wanted)),
            ("models", names(Answer::Yes)),
            ("unknown", names(Answer::Unknown)),
        ];
        if let Some(added) = self.added(row) {
            let events = record::events(self.program, &added.trace);
            members.push(("added_by", Json::text(added.model.info().name)));
            members.push(("reason", added.reason.map_or(Json::Null, Json::Text)));
            members.push(("token", Json::text(added.token.to_string())));
            members.push(("events", events));
        }
        Json::Object(members)
    }
}
