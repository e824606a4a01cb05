-- Oncehook: takes an event or a delivery anew by its id; the same row as the claims of this workflow give.
SELECT * FROM oncehook.replay_delivery($1::text, $2::text, $3::text, $4::text, $5::text)
