-- Oncehook: takes an event anew by its id; the same row as "Claim event" gives.
SELECT * FROM oncehook.replay($1::text, $2::text, $3::text, $4::text, $5::text)
