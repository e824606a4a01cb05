-- Oncehook: the run failed: its event may be taken anew at once, by the next delivery or by a replay.
SELECT * FROM oncehook.fail($1::text, $2::text, $3::text, $4::text, $5::text, $6::text)
