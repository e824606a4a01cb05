-- Oncehook: completes the event, if this run still holds it (the claim is its fencing token).
SELECT * FROM oncehook.finish($1::text, $2::text)
