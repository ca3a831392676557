CREATE TABLE rows (word TEXT, feature INTEGER, value REAL);
SELECT word, AVG(value) AS mean
FROM rows
GROUP BY word
ORDER BY mean DESC;
