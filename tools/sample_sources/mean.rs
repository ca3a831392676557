fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn main() {
    println!("{}", mean(&[1.0, 2.0, 3.0, 6.0]));
}
