-- Signatures that anyone can check and only the sender can make: RSA (PKCS #1 v1.5), ECDSA over P-256 and Ed25519, in
-- Postgres's own arithmetic, so that no extension is needed. A source's "secret" is then the sender's public key, in
-- the one form that `storedKey` (src/providers/keys.ts) writes:
--   rsa      the exponent in 4 bytes, then the modulus without leading zeros
--   ecdsa    x and y of the point, 32 bytes each
--   ed25519  the 32 bytes of RFC 8032
-- Nothing here is secret, so that nothing has to take the same time for every input.

-- Bytes as a number, the highest first; seven bytes a step, which a bigint holds.
CREATE FUNCTION oncehook.number_of(bytes bytea) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  hex text := repeat('0', (14 - 2 * octet_length(bytes) % 14) % 14) || encode(bytes, 'hex');
  n numeric := 0;
BEGIN
  FOR i IN 0 .. length(hex) / 14 - 1 LOOP
    n := n * 72057594037927936 + ('x00' || substr(hex, 14 * i + 1, 14))::bit(64)::bigint;
  END LOOP;
  RETURN n;
END $f$;

-- The same with the lowest byte first, as Ed25519 writes numbers.
CREATE FUNCTION oncehook.number_of_reversed(bytes bytea) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  turned bytea := bytes;
BEGIN
  FOR i IN 0 .. octet_length(bytes) - 1 LOOP
    turned := set_byte(turned, i, get_byte(bytes, octet_length(bytes) - 1 - i));
  END LOOP;
  RETURN oncehook.number_of(turned);
END $f$;

-- A number below 2^256 as 256 digits of 0 and 1.
CREATE FUNCTION oncehook.bits_of(n numeric) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  bits text := '';
BEGIN
  FOR i IN 1 .. 8 LOOP
    bits := substr((n % 4294967296)::bigint::bit(64)::text, 33) || bits;
    n := div(n, 4294967296);
  END LOOP;
  RETURN bits;
END $f$;

-- The number by which `n` gives 1 modulo a prime (extended Euclid); `n` is no multiple of it.
CREATE FUNCTION oncehook.inverse_of(n numeric, prime numeric) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  r0 numeric := prime;
  r1 numeric := (n % prime + prime) % prime;
  t0 numeric := 0;
  t1 numeric := 1;
  q numeric;
  swap numeric;
BEGIN
  WHILE r1 > 1 LOOP
    q := div(r0, r1);
    swap := r0 - q * r1; r0 := r1; r1 := swap;
    swap := t0 - q * t1; t0 := t1; t1 := swap;
  END LOOP;
  RETURN (t1 + prime) % prime;
END $f$;

-- RSA by RFC 8017, 8.2.2: what the signature gives is compared as a whole with what it must give, so that no padding
-- has to be read.
CREATE FUNCTION oncehook.rsa_holds(hash text, key bytea, message bytea, mac bytea) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $f$
DECLARE
  size int := octet_length(key) - 4;
  digest bytea := decode(CASE hash WHEN 'sha256' THEN '3031300d060960864801650304020105000420'
      WHEN 'sha384' THEN '3041300d060960864801650304020205000430'
      WHEN 'sha512' THEN '3051300d060960864801650304020305000440' END, 'hex') || oncehook.hash_of(hash, message);
  exponent text;
  modulus numeric;
  base numeric;
  x numeric;
BEGIN
  IF digest IS NULL OR size NOT BETWEEN 128 AND 512 OR octet_length(mac) <> size THEN
    RETURN false;
  END IF;
  exponent := ltrim(('x' || encode(substr(key, 1, 4), 'hex'))::bit(32)::text, '0');
  modulus := oncehook.number_of(substr(key, 5));
  base := oncehook.number_of(mac);
  IF length(exponent) NOT BETWEEN 2 AND 17 OR right(exponent, 1) <> '1' OR modulus % 2 = 0 OR base >= modulus THEN
    RETURN false;
  END IF;
  x := base;
  FOR i IN 2 .. length(exponent) LOOP
    x := x * x % modulus;
    IF substr(exponent, i, 1) = '1' THEN
      x := x * base % modulus;
    END IF;
  END LOOP;
  RETURN x = oncehook.number_of(decode('0001' || repeat('ff', size - 3 - octet_length(digest)) || '00', 'hex') || digest);
END $f$;

-- ECDSA over P-256 with SHA-256 (FIPS 186-5, 6.4.2). Both products are made in one pass over the bits of both
-- numbers; points are kept as (x/z², y/z³), so that a division is needed only for the table.
CREATE FUNCTION oncehook.p256_holds(key bytea, message bytea, mac bytea) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  p constant numeric := 115792089210356248762697446949407573530086143415290314195533631308867097853951;
  n constant numeric := 115792089210356248762697446949407573529996955224135760342422259061068512044369;
  b constant numeric := 41058363725152142129326129780047268409114441015993725554835256314039467401291;
  gx constant numeric := 48439561293906451759052585252797914202762949526041747995844080717082404635286;
  gy constant numeric := 36134250956749795798585127919587881956611106672985015071877198253568414405109;
  qx numeric;
  qy numeric;
  r numeric;
  s numeric;
  tx numeric; -- the sum of both points; null where it is none
  ty numeric;
  ax numeric;
  ay numeric;
  x numeric := 0;
  y numeric := 1;
  z numeric := 0; -- nothing added yet
  f numeric;
  g numeric;
  h numeric;
  k numeric;
  bits text;
  more text;
  digits text;
  again boolean := false;
BEGIN
  IF octet_length(key) <> 64 OR octet_length(mac) <> 64 THEN
    RETURN false;
  END IF;
  qx := oncehook.number_of(substr(key, 1, 32));
  qy := oncehook.number_of(substr(key, 33));
  r := oncehook.number_of(substr(mac, 1, 32));
  s := oncehook.number_of(substr(mac, 33));
  IF r = 0 OR r >= n OR s = 0 OR s >= n OR qx >= p OR qy >= p OR (qy * qy - qx * qx * qx + 3 * qx - b) % p <> 0 THEN
    RETURN false;
  END IF;
  IF qx <> gx THEN
    f := (qy - gy) * oncehook.inverse_of(qx - gx, p) % p;
  ELSIF qy = gy THEN
    f := 3 * (gx * gx - 1) * oncehook.inverse_of(2 * gy, p) % p;
  END IF;
  tx := ((f * f - gx - qx) % p + p) % p;
  ty := ((f * (gx - tx) - gy) % p + p) % p;
  f := oncehook.inverse_of(s, n);
  bits := oncehook.bits_of(oncehook.number_of(sha256(message)) * f % n);
  more := oncehook.bits_of(r * f % n);
  FOR i IN 1 .. 256 LOOP
    digits := substr(bits, i, 1) || substr(more, i, 1);
    LOOP
      IF z <> 0 THEN -- twice the point
        f := y * y % p;
        g := 4 * x * f % p;
        k := z * z % p;
        h := 3 * (x - k) * (x + k) % p;
        z := 2 * y * z % p;
        x := (h * h - 2 * g) % p;
        y := (h * (g - x) - 8 * f * f) % p;
      END IF;
      EXIT WHEN digits = '00' OR again;
      ax := CASE digits WHEN '10' THEN gx WHEN '01' THEN qx ELSE tx END;
      ay := CASE digits WHEN '10' THEN gy WHEN '01' THEN qy ELSE ty END;
      EXIT WHEN ax IS NULL;
      IF z = 0 THEN
        x := ax; y := ay; z := 1;
        EXIT;
      END IF;
      k := z * z % p;
      f := (ax * k - x) % p;
      g := (ay * (k * z % p) - y) % p;
      IF f <> 0 THEN -- plus another point
        k := f * f % p;
        h := k * f % p;
        k := x * k % p;
        z := z * f % p;
        x := (g * g - h - 2 * k) % p;
        y := (g * (k - x) - y * h) % p;
        EXIT;
      ELSIF g <> 0 THEN -- minus itself
        z := 0;
        EXIT;
      END IF;
      x := ax; y := ay; z := 1; -- plus itself: twice the point
      again := true;
    END LOOP;
    again := false;
  END LOOP;
  k := z * z % p;
  RETURN z <> 0 AND ((x - r * k) % p = 0 OR (r + n < p AND (x - (r + n) * k) % p = 0));
END $f$;

-- The x of a point of Ed25519 (RFC 8032, 5.1.3); NULL where there is none.
CREATE FUNCTION oncehook.ed25519_x(y numeric, odd int) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  p constant numeric := 57896044618658097711785492504343953926634992332820282019728792003956564819949;
  d constant numeric := 37095705934669439343138083508754565189542113879843219016388785533085940283555;
  root constant numeric := 19681161376707505956807079304988542015446066515923890162744021073123829784752; -- of -1
  u numeric := (y * y - 1) % p;
  v numeric := (d * (y * y % p) + 1) % p;
  base numeric := (u * (v * v % p * v % p) % p) * (v * v % p * v % p * v % p) % p;
  x numeric;
BEGIN
  IF y >= p THEN
    RETURN NULL;
  END IF;
  -- (u v^7) to the (p-5)/8 = 2^252 - 3: 250 digits 1, then 01
  x := base;
  FOR i IN 2 .. 252 LOOP
    x := x * x % p;
    IF i <> 251 THEN
      x := x * base % p;
    END IF;
  END LOOP;
  x := (u * (v * v % p * v % p) % p * x % p + p) % p;
  IF (v * (x * x % p) - u) % p <> 0 THEN
    IF (v * (x * x % p) + u) % p <> 0 THEN
      RETURN NULL;
    END IF;
    x := x * root % p;
  END IF;
  RETURN CASE WHEN x % 2 = odd THEN x WHEN x > 0 THEN p - x END;
END $f$;

-- Ed25519 by RFC 8032, 5.1.7, without the cofactor: [S]B - [k]A must be written like R, byte for byte. Points are kept
-- as (x/z, y/z) with t = x y / z; the formulas hold for every pair of points. A key of low order, under which one
-- signature can hold for many messages, and numbers that are not written as they should be are refused.
CREATE FUNCTION oncehook.ed25519_holds(key bytea, message bytea, mac bytea) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  p constant numeric := 57896044618658097711785492504343953926634992332820282019728792003956564819949;
  l constant numeric := 7237005577332262213973186563042994240857116359379907606001950938285454250989;
  d2 constant numeric := 16295367250680780974490674513165176452449235426866156013048779062215315747161;
  px numeric[] := '{15112221349535400772501151409588531511454012693041857206046113283949847762202}';
  py numeric[] := '{46316835694926478169428394003475163141307993866256225615783033603165251855960}';
  pz numeric[];
  pt numeric[];
  s numeric;
  bits text;
  more text;
  x numeric;
  y numeric;
  z numeric;
  t numeric;
  a numeric;
  b numeric;
  c numeric;
  d numeric;
  j int;
BEGIN
  IF octet_length(key) <> 32 OR octet_length(mac) <> 64 THEN
    RETURN false;
  END IF;
  s := oncehook.number_of_reversed(substr(mac, 33));
  y := oncehook.number_of_reversed(set_byte(key, 31, get_byte(key, 31) & 127));
  x := oncehook.ed25519_x(y, get_byte(key, 31) >> 7);
  IF s >= l OR x IS NULL THEN
    RETURN false;
  END IF;
  -- The table: B, -A, and their sum.
  px := px || (p - x) || NULL;
  py := py || y || NULL;
  pz := ARRAY[1, 1, NULL];
  pt := ARRAY[px[1] * py[1] % p, px[2] * py[2] % p, NULL];
  a := (py[1] - px[1]) * (py[2] - px[2]) % p;
  b := (py[1] + px[1]) * (py[2] + px[2]) % p;
  c := pt[1] * d2 % p * pt[2] % p;
  px[3] := (b - a) * (2 - c) % p;
  py[3] := (2 + c) * (b + a) % p;
  pt[3] := (b - a) * (b + a) % p;
  pz[3] := (2 - c) * (2 + c) % p;
  z := 1;
  FOR i IN 1 .. 3 LOOP -- eight times the key
    a := x * x % p; b := y * y % p; d := a + b; c := d - (x + y) * (x + y); t := 2 * z * z + (a - b);
    x := c * t % p; y := (a - b) * d % p; z := t * (a - b) % p;
  END LOOP;
  IF x = 0 THEN
    RETURN false;
  END IF;
  bits := oncehook.bits_of(s);
  more := oncehook.bits_of(oncehook.number_of_reversed(sha512(substr(mac, 1, 32) || key || message)) % l);
  x := 0; y := 1; z := 1; t := 0;
  FOR i IN 4 .. 256 LOOP
    a := x * x % p; b := y * y % p; d := a + b; c := d - (x + y) * (x + y); b := a - b; a := 2 * z * z + b;
    x := c * a % p; y := b * d % p; t := c * d % p; z := a * b % p;
    j := CASE substr(bits, i, 1) || substr(more, i, 1) WHEN '10' THEN 1 WHEN '01' THEN 2 WHEN '11' THEN 3 END;
    IF j IS NOT NULL THEN
      a := (y - x) * (py[j] - px[j]) % p; b := (y + x) * (py[j] + px[j]) % p;
      c := t * d2 % p * pt[j] % p; d := 2 * z * pz[j] % p;
      x := (b - a) * (d - c) % p; y := (d + c) * (b + a) % p; t := (b - a) * (b + a) % p; z := (d - c) * (d + c) % p;
    END IF;
  END LOOP;
  z := oncehook.inverse_of(z, p);
  x := (x * z % p + p) % p;
  y := (y * z % p + p) % p;
  RETURN oncehook.number_of_reversed(substr(mac, 1, 32))
    = y + CASE WHEN x % 2 = 1 THEN 57896044618658097711785492504343953926634992332820282019728792003956564819968 ELSE 0 END;
END $f$;

-- The two numbers of an ECDSA signature in DER as 32 bytes each; NULL unless it is written in the one right way.
CREATE FUNCTION oncehook.der_pair(der bytea) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  size int := octet_length(der);
  at int := 2;
  long int;
  number bytea;
  pair bytea := '';
BEGIN
  IF size NOT BETWEEN 8 AND 72 THEN
    RETURN NULL;
  ELSIF substr(der, 1, 2) <> decode('30' || lpad(to_hex(size - 2), 2, '0'), 'hex') THEN
    RETURN NULL;
  END IF;
  FOR i IN 1 .. 2 LOOP
    IF at + 3 > size THEN
      RETURN NULL;
    END IF;
    long := get_byte(der, at + 1);
    number := substr(der, at + 3, long);
    IF get_byte(der, at) <> 2 OR long NOT BETWEEN 1 AND 33 OR octet_length(number) <> long THEN
      RETURN NULL;
    ELSIF get_byte(number, 0) > 127 THEN
      RETURN NULL; -- below zero
    ELSIF get_byte(number, 0) = 0 AND long > 1 THEN
      number := substr(number, 2);
      IF get_byte(number, 0) < 128 THEN
        RETURN NULL; -- a zero too many
      END IF;
    END IF;
    IF octet_length(number) > 32 THEN
      RETURN NULL;
    END IF;
    pair := pair || decode(repeat('00', 32 - octet_length(number)), 'hex') || number;
    at := at + 2 + long;
  END LOOP;
  RETURN CASE WHEN at = size THEN pair END;
END $f$;

-- Bytes out of what a sender wrote; NULL unless it is written in the one way in which these bytes are written (padding
-- of base64url is optional, hexadecimal may have either case). Never raises.
CREATE FUNCTION oncehook.read_bytes(written text, encoding text) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  text_of text := CASE encoding WHEN 'hex' THEN lower(written) WHEN 'base64url' THEN rtrim(written, '=') ELSE written END;
  bytes bytea;
BEGIN
  bytes := CASE encoding WHEN 'hex' THEN decode(text_of, 'hex') WHEN 'base64' THEN decode(text_of, 'base64')
    WHEN 'base64url' THEN decode(translate(text_of, '-_', '+/') || repeat('=', -length(text_of) & 3), 'base64') END;
  RETURN CASE WHEN oncehook.write_mac(bytes, encoding) = text_of THEN bytes END;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END $f$;

-- Whether a signature is one of a message under a key; false for everything that is not as it should be.
CREATE FUNCTION oncehook.key_holds(signature jsonb, key bytea, message bytea, mac bytea) RETURNS boolean
LANGUAGE plpgsql STABLE AS $f$
BEGIN
  RETURN coalesce(CASE signature ->> 'key_kind'
    WHEN 'rsa' THEN oncehook.rsa_holds(signature ->> 'hash', key, message, mac)
    WHEN 'p256' THEN oncehook.p256_holds(key, message, CASE WHEN signature ->> 'format' = 'der' THEN oncehook.der_pair(mac) ELSE mac END)
    WHEN 'ed25519' THEN oncehook.ed25519_holds(key, message, mac) END, false);
EXCEPTION WHEN OTHERS THEN
  RETURN false;
END $f$;

-- Whether any signature that was sent holds under any live key. A check takes milliseconds, so only the first four
-- signatures are looked at.
CREATE FUNCTION oncehook.any_key_holds(s oncehook.webhook_sources, given text[], encoding text, message bytea) RETURNS boolean
LANGUAGE plpgsql STABLE AS $f$
DECLARE
  written text;
  key bytea;
  mac bytea;
BEGIN
  FOREACH written IN ARRAY given[:4] LOOP
    mac := oncehook.read_bytes(written, encoding);
    CONTINUE WHEN mac IS NULL OR message IS NULL;
    FOR key IN SELECT k.secret FROM oncehook.webhook_secrets k
      WHERE k.source_id = s.id AND k.retired_at IS NULL ORDER BY k.created_at DESC, k.name LOOP
      IF oncehook.key_holds(s.signature, key, message, mac) THEN
        RETURN true;
      END IF;
    END LOOP;
  END LOOP;
  RETURN false;
END $f$;

-- A JSON Web Signature in its compact form. Scheme jws: without its payload, which is the body (RFC 7515, appendix F);
-- scheme jwt: with claims of its own, of which one is the body's SHA-256 and another the time of issue. The algorithm
-- is the source's, whatever the token says of itself.
CREATE FUNCTION oncehook.verify_jws(s oncehook.webhook_sources, q oncehook.request, at timestamptz) RETURNS text
LANGUAGE plpgsql STABLE AS $f$
DECLARE
  given text := oncehook.text_at(q, s.signature);
  prefix text := coalesce(s.signature ->> 'prefix', '');
  rule jsonb := s.signature -> 'timestamp';
  parts text[];
  head jsonb;
  claims jsonb;
  age numeric;
BEGIN
  IF coalesce(given, '') = '' THEN
    RETURN 'signature missing';
  ELSIF cardinality(s.inner_pads) = 0 THEN
    RETURN 'no secret stored';
  END IF;
  parts := CASE WHEN starts_with(given, prefix) THEN string_to_array(substr(given, length(prefix) + 1), '.') END;
  head := oncehook.read_object(oncehook.body_text(oncehook.read_bytes(parts[1], 'base64url')));
  IF cardinality(parts) IS DISTINCT FROM 3 OR head ->> 'alg' IS DISTINCT FROM s.signature ->> 'algorithm' OR head ?| '{crit,b64}'
    OR (s.signature ->> 'scheme' = 'jws' AND parts[2] <> '') THEN
    RETURN 'signature wrong';
  END IF;
  IF s.signature ->> 'scheme' = 'jws' THEN
    parts[2] := oncehook.write_mac(q.body, 'base64url');
  END IF;
  IF NOT oncehook.any_key_holds(s, parts[3:3], 'base64url', convert_to(parts[1] || '.' || parts[2], 'UTF8')) THEN
    RETURN 'signature wrong';
  ELSIF s.signature ->> 'scheme' = 'jws' THEN
    RETURN NULL;
  END IF;
  claims := oncehook.read_object(oncehook.body_text(oncehook.read_bytes(parts[2], 'base64url')));
  IF claims -> (s.signature ->> 'body_sha256') IS DISTINCT FROM to_jsonb(encode(sha256(q.body), 'hex')) THEN
    RETURN 'signature wrong';
  ELSIF jsonb_typeof(claims -> (rule ->> 'claim')) IS DISTINCT FROM 'number' THEN
    RETURN 'signature without a timestamp';
  END IF;
  age := date_part('epoch', at)::numeric - (claims ->> (rule ->> 'claim'))::numeric;
  RETURN CASE WHEN s.tolerance_seconds IS NULL THEN 'no tolerance set for the signed time'
    WHEN age > s.tolerance_seconds OR (rule ->> 'future' = 'refuse' AND -age > s.tolerance_seconds) THEN 'signature expired' END;
END $f$;

-- The CRC-32 of a text's bytes (ISO 3309), four bits a step. NULL for more bytes than any sender sends: it takes a
-- microsecond a byte, and whoever sent them has proved nothing yet.
CREATE FUNCTION oncehook.crc32_of(bytes bytea) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  steps constant bigint[] := '{0,498536548,997073096,651767980,1994146192,1802195444,1303535960,1342533948,3988292384,4027552580,3604390888,3412177804,2607071920,2262029012,2685067896,3183342108}';
  crc bigint := 4294967295;
BEGIN
  IF octet_length(bytes) > 262144 THEN
    RETURN NULL;
  END IF;
  FOR i IN 0 .. octet_length(bytes) - 1 LOOP
    crc := crc # get_byte(bytes, i);
    crc := (crc >> 4) # steps[(crc & 15) + 1];
    crc := (crc >> 4) # steps[(crc & 15) + 1];
  END LOOP;
  RETURN crc # 4294967295;
END $f$;

-- A text as PHP writes it in JSON when it leaves letters as they are.
CREATE FUNCTION oncehook.php_text(value text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
BEGIN
  RETURN replace(replace(replace(to_json(value)::text, '/', '\/'), U&'\2028', '\u2028'), U&'\2029', '\u2029');
END $f$;

-- Fields as one JSON text with sorted names: each of `items` is [[step, …], text]. What has the names 0, 1, 2 … is a
-- list. NULL where a name stands for a text and for further names.
CREATE FUNCTION oncehook.nested_json(items jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  numbered boolean;
  list boolean := true;
  node record;
  inner_text text;
  names text[] := '{}';
  texts text[] := '{}';
BEGIN
  numbered := NOT EXISTS (SELECT FROM jsonb_array_elements(items) x
    WHERE x #>> '{0,0}' <> '0' AND (translate(x #>> '{0,0}', '0123456789', '') <> '' OR length(x #>> '{0,0}') > 15 OR left(x #>> '{0,0}', 1) IN ('', '0')));
  FOR node IN
    SELECT x #>> '{0,0}' AS name, jsonb_agg(jsonb_build_array((x -> 0) - 0, x -> 1) ORDER BY n) AS below,
      (array_agg(x ->> 1 ORDER BY n DESC))[1] AS value,
      min(jsonb_array_length(x -> 0)) AS shortest, max(jsonb_array_length(x -> 0)) AS longest
    FROM jsonb_array_elements(items) WITH ORDINALITY AS e (x, n) GROUP BY 1
    ORDER BY CASE WHEN numbered THEN lpad(x #>> '{0,0}', 15, '0') ELSE x #>> '{0,0}' END COLLATE "C"
  LOOP
    IF node.longest > 1 AND node.shortest = 1 THEN
      RETURN NULL;
    END IF;
    inner_text := CASE WHEN node.longest = 1 THEN oncehook.php_text(node.value) ELSE oncehook.nested_json(node.below) END;
    IF inner_text IS NULL THEN
      RETURN NULL;
    END IF;
    list := list AND node.name = cardinality(texts)::text;
    names := names || node.name;
    texts := texts || inner_text;
  END LOOP;
  IF list THEN
    RETURN '[' || array_to_string(texts, ',') || ']';
  END IF;
  RETURN '{' || (SELECT string_agg(oncehook.php_text(k) || ':' || v, ',' ORDER BY i) FROM unnest(names, texts) WITH ORDINALITY AS u (k, v, i)) || '}';
END $f$;

-- The fields of a form whose names nest as PHP reads them (`products[0][name]`), as one JSON text: names sorted, every
-- value a text. NULL where there is no form, or a name that nests in no such way.
CREATE FUNCTION oncehook.form_as_json(pairs jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  items jsonb;
BEGIN
  IF EXISTS (SELECT FROM jsonb_array_elements(pairs) p WHERE p ->> 0 !~ '^[^][]+(\[[^][]+\]){0,8}$') THEN
    RETURN NULL;
  END IF;
  SELECT jsonb_agg(jsonb_build_array(to_jsonb(string_to_array(replace(rtrim(p ->> 0, ']'), ']', ''), '[')), p -> 1) ORDER BY n) INTO items
    FROM jsonb_array_elements(pairs) WITH ORDINALITY AS x (p, n);
  RETURN oncehook.nested_json(items);
END $f$;
