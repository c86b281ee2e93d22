//! Rows of figures.

/// All rows of a run.
#[derive(Default)]
pub(crate) struct Report(Vec<Row>);

/// One measurement.
pub(crate) struct Row {
    way: &'static str,
    what: &'static str,
    figures: Vec<(&'static str, f64)>,
}

impl Row {
    pub(crate) fn new(way: &'static str, what: &'static str) -> Self {
        Self {
            way,
            what,
            figures: Vec::new(),
        }
    }

    pub(crate) fn with(mut self, unit: &'static str, figure: f64) -> Self {
        self.figures.push((unit, figure));
        self
    }
}

impl Report {
    pub(crate) fn add(&mut self, row: Row) {
        eprintln!("{} {}: done", row.way, row.what);
        self.0.push(row);
    }

    pub(crate) fn print(&self, json: bool) {
        if json {
            let rows = self.0.iter().map(|row| {
                let figures = row
                    .figures
                    .iter()
                    .map(|(unit, figure)| format!(",\"{unit}\":{figure:.3}"));
                let figures: String = figures.collect();
                format!("{{\"way\":\"{}\",\"what\":\"{}\"{figures}}}", row.way, row.what)
            });
            println!("[{}]", rows.collect::<Vec<_>>().join(",\n "));
            return;
        }
        for row in &self.0 {
            let figures = row
                .figures
                .iter()
                .map(|(unit, figure)| format!("{figure:>12.2} {unit}"));
            println!("{:<18} {:<8}{}", row.what, row.way, figures.collect::<String>());
        }
    }
}
